package mock_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/tasks/mock"
)

// config mocks the state T of the machine M in several ways.
const config = `{
  "StateMachines": {"M": {"TestCases": {
    "Happy": {"T": "Success"}, "Retried": {"T": "FailsTwice"}, "Numbered": {"T": "Numbers"}, "Hybrid": {}, "Broken": {"T": "NoCause"},
    "Empty": {"T": "Empty"}, "Late": {"T": "Late"}, "Misspelt": {"Reserv": "Success"}
  }}},
  "Assert": "of another program",
  "MockedResponses": {
    "Success": {"0": {"Return": {"StatusCode": 200, "Payload": {"ok": true}}}},
    "FailsTwice": {
      "0": {"Throw": {"Error": "Lambda.TimeoutException", "Cause": "Lambda timed out."}},
      "1-1": {"Throw": {"Error": "Lambda.TimeoutException", "Cause": "again"}},
      "2": {"Return": "done"}
    },
    "Numbers": {"0": {"Return": 10}, "1-2": {"Return": 20}, "3": {"Return": 30}},
    "Empty": {}, "Late": {"1": {"Return": 1}},
    "NoCause": {"0": {"Throw": {"Error": "Broken"}}}
  }
}`

// run runs the state machine M with a test case and returns the ended execution and the types of its events.
func run(t *testing.T, definition, testCase string, express bool) (x *journal.Execution, events string) {
	t.Helper()
	mocks, err := mock.Parse([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	c := clock.Virtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	e, err := engine.New(engine.Config{
		Clock: c, Journal: journal.NewMemory(), Mocks: mocks.Execution, TempDir: t.TempDir(),
		Observe: func(x *journal.Execution, events []history.Event) {
			if x.MapRunARN == "" {
				for i := range events {
					told = append(told, events[i].Type.String())
				}
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close(); c.Close() })
	m, err := e.Compile("M", definition, "", express)
	if err != nil {
		t.Fatal(err)
	}
	started, err := e.Start(t.Context(), &engine.Start{Machine: m, Origin: engine.Origin{Name: "x", Input: "{}",
		TestCase: testCase}})
	if err != nil {
		t.Fatal(err)
	}
	x, err = started.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return x, strings.Join(told, " ")
}

// task returns a state machine with a single task.
func task(resource, more string) string {
	return `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"` + resource + `",` + more + `"End":true}}}`
}

const lambdaInvoke = "arn:aws:states:::lambda:invoke"

func TestTestCases(t *testing.T) {
	t.Parallel()
	const retry = `"Retry":[{"ErrorEquals":["Lambda.TimeoutException"],"IntervalSeconds":1,"MaxAttempts":3}],`
	mapped := func(mode string) string {
		return `{"StartAt":"All","States":{"All":{"Type":"Map","MaxConcurrency":1,"End":true,"Parameters":{},"ItemsPath":"$.i","ItemProcessor":{` +
			mode + `"StartAt":"T","States":{"T":{"Type":"Task","Resource":"` + lambdaInvoke + `","End":true}}}}}}`
	}
	inject := func(definition string) string { // passes the items to the Map
		return strings.Replace(definition, `{"StartAt":"All","States":{`,
			`{"StartAt":"I","States":{"I":{"Type":"Pass","Result":{"i":[1,2,3,4]},"Next":"All"},`, 1)
	}
	for name, c := range map[string]struct {
		definition, testCase string
		express              bool
		output, err, cause   string
	}{
		"one answer": {definition: task(lambdaInvoke, ""), testCase: "Happy",
			output: `{"StatusCode":200,"Payload":{"ok":true}}`},
		"a function's ARN": {definition: task("arn:aws:lambda:us-east-1:000000000000:function:f", ""),
			testCase: "Numbered", output: "10"},
		"an activity": {definition: task("arn:aws:states:us-east-1:000000000000:activity:a", ""),
			testCase: "Numbered", output: "10"},
		"a job": {definition: task("arn:aws:states:::ecs:runTask.sync", ""), testCase: "Numbered",
			output: "10"},
		"an express one": {definition: task(lambdaInvoke, ""), testCase: "Happy", express: true,
			output: `{"StatusCode":200,"Payload":{"ok":true}}`},
		"a callback": {
			definition: task("arn:aws:states:::sqs:sendMessage.waitForTaskToken",
				`"Parameters":{"T.$":"$$.Task.Token"},`),
			testCase: "Numbered", output: "10",
		},
		"retries are invocations": {definition: task(lambdaInvoke, retry), testCase: "Retried", output: `"done"`},
		"so are iterations":       {definition: inject(mapped("")), testCase: "Numbered", output: "[10,20,20,30]"},
		"of distributed Maps too": {definition: inject(mapped(`"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},`)), testCase: "Numbered", output: "[10,20,20,30]"},
		"a response without answers": {
			definition: task(lambdaInvoke, ""), testCase: "Empty", err: "States.Runtime",
			cause: `Invocation 0 of the state T is not mocked: in the test case Empty of the state machine M it gets the response Empty, which has no answer for invocation "0"`,
		},
		"a response that begins late": {
			definition: task(lambdaInvoke, ""), testCase: "Late", err: "States.Runtime",
			cause: `Invocation 0 of the state T is not mocked: in the test case Late of the state machine M it gets the response Late, which has no answer for invocation "0"`,
		},
		"an error without a cause": {definition: task(lambdaInvoke, ""), testCase: "Broken", err: "Broken"},
		"more invocations than answers": {
			definition: strings.Replace(inject(mapped("")), "[1,2,3,4]", "[1,2,3,4,5]", 1), testCase: "Numbered",
			err:   "States.Runtime",
			cause: "Invocation 4 of the state T is not mocked: in the test case Numbered of the state machine M it gets the response Numbers, which ends with 3",
		},
		"a state that is not listed": {
			definition: task("arn:aws:states:::ecs:runTask", ""), testCase: "Hybrid", err: "States.Runtime",
			cause: "No integration for the resource arn:aws:states:::ecs:runTask is configured.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, _ := run(t, c.definition, c.testCase, c.express)
			want := history.Succeeded
			if c.err != "" {
				want = history.Failed
			}
			if x.Status != want || x.Output != c.output || x.Failure.Name != c.err || x.Failure.Cause != c.cause {
				t.Errorf("%s, output %s, error %q, cause %q", x.Status, x.Output, x.Failure.Name, x.Failure.Cause)
			}
		})
	}
}

func TestHistoryIsThatOfARealTask(t *testing.T) {
	t.Parallel()
	for resource, want := range map[string]string{
		lambdaInvoke:                                       "TaskScheduled TaskStarted TaskSucceeded",
		"arn:aws:states:::ecs:runTask.sync":                "TaskScheduled TaskStarted TaskSubmitted TaskSucceeded",
		"arn:aws:states:us-east-1:000000000000:activity:a": "ActivityScheduled ActivityStarted ActivitySucceeded",
		"arn:aws:lambda:us-east-1:000000000000:function:f": "LambdaFunctionScheduled LambdaFunctionStarted LambdaFunctionSucceeded",
	} {
		_, events := run(t, task(resource, ""), "Happy", false)
		if got := "ExecutionStarted TaskStateEntered " + want + " TaskStateExited ExecutionSucceeded"; events != got {
			t.Errorf("%s: %s", resource, events)
		}
	}
}

func Example() {
	config, err := mock.Parse([]byte(`{
	  "StateMachines": {"Orders": {"TestCases": {"OutOfStock": {"Reserve": "Nothing left"}}}},
	  "MockedResponses": {"Nothing left": {"0": {"Throw": {"Error": "OutOfStock", "Cause": "0 left"}}}}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(config.Machines(), config.TestCases("Orders"))
	// With engine.Config{Mocks: config.Execution} and engine.Start{TestCase: "OutOfStock"}, an execution uses these
	// responses.
	_, err = config.Execution("Orders", "Happy")
	fmt.Println(err)
	// Output:
	// [Orders] [OutOfStock]
	// the mock configuration has no test case Happy of the state machine Orders; it has OutOfStock
}

func TestAStateThatIsNotThereIsRefused(t *testing.T) {
	t.Parallel()
	mocks, err := mock.Parse([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	c := clock.Virtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	defer c.Close()
	e, err := engine.New(engine.Config{Clock: c, Journal: journal.NewMemory(), Mocks: mocks.Execution})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	m, err := e.Compile("M", `{"StartAt":"All","States":{"All":{"Type":"Map","ItemProcessor":{"StartAt":"Reserve","States":{
		"Reserve":{"Type":"Task","Resource":"`+lambdaInvoke+
		`","Parameters":{"FunctionName":"f"},"End":true}}},"End":true}}}`, "", false)
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Start(t.Context(), &engine.Start{Machine: m,
		Origin: engine.Origin{Name: "x", Input: "[1]", TestCase: "Misspelt"}})
	const want = "the test case Misspelt mocks the state Reserv, which the state machine M does not have; did you mean Reserve?"
	if !errors.Is(err, engine.ErrTestCase) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
