package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"stepback/engine"
	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/plan"
)

type named string

func (n named) Invoke(context.Context, *engine.Task) (engine.Result, error) {
	return engine.TextResult(`"` + string(n) + `"`), nil
}

func TestTheMostSpecificHandlerGetsATask(t *testing.T) {
	t.Parallel()
	m := new(engine.Integrations).
		Handle("aws-sdk", "*", named("the SDK")).
		Handle("aws-sdk:sqs", "*", named("SQS by the SDK")).
		Handle("aws-sdk:sqs", "sendMessage", named("sending by the SDK")).
		Handle("sns", "*", named("SNS")).
		Handle("sns", "publish", named("publishing")).
		HandleFunctions(named("functions"))
	for _, c := range []struct{ service, action, want string }{
		{"aws-sdk:dynamodb", "putItem", "the SDK"},
		{"aws-sdk:sqs", "purgeQueue", "SQS by the SDK"},
		{"aws-sdk:sqs", "sendMessage", "sending by the SDK"},
		{"sns", "publish", "publishing"},
		{"sns", "createTopic", "SNS"},
		{"sqs", "sendMessage", "<nil>"},
		{"aws-sdk-like", "call", "<nil>"},
		{"lambda", "invoke", "<nil>"},
	} {
		if got := fmt.Sprint(m.Handler(c.service, c.action)); got != c.want {
			t.Errorf("%s:%s is carried out by %s, not by %s", c.service, c.action, got, c.want)
		}
	}
	if got := m.FunctionHandler(); got != named("functions") {
		t.Errorf("functions are carried out by %v", got)
	}
	copied := m.Clone()
	copied.Wrap(func(name string, h engine.Integration) engine.Integration {
		return named(name + " is " + string(h.(named)))
	})
	for got, want := range map[engine.Integration]string{
		copied.Handler("aws-sdk:s3", "getObject"): "aws-sdk:* is the SDK",
		copied.Handler("sns", "publish"):          "sns:publish is publishing",
		copied.FunctionHandler():                  "function is functions",
		m.Handler("sns", "publish"):               "publishing", // the original keeps its own
	} {
		if string(got.(named)) != want {
			t.Errorf("%s; want %s", got, want)
		}
	}
	var none *engine.Integrations
	if none.Handler("sns", "publish") != nil || none.FunctionHandler() != nil || none.Clone().FunctionHandler() != nil {
		t.Error("a nil Integrations has handlers")
	}
}

func TestRegistrationsThatAreRefused(t *testing.T) {
	t.Parallel()
	h := named("h")
	for name, c := range map[string]struct {
		register func(*engine.Integrations)
		want     string
	}{
		"twice": {
			func(m *engine.Integrations) { m.Handle("sns", "publish", h).Handle("sns", "publish", h) },
			`engine: Handle("sns", "publish"): a engine_test.named handles it already`,
		},
		"functions twice": {
			func(m *engine.Integrations) { m.HandleFunctions(h).HandleFunctions(h) },
			`engine: HandleFunctions: a engine_test.named handles functions already`,
		},
		"nil":              {func(m *engine.Integrations) { m.Handle("sns", "publish", nil) }, `the integration is nil`},
		"functions by nil": {func(m *engine.Integrations) { m.HandleFunctions(nil) }, `the integration is nil`},
		"a pattern": {
			func(m *engine.Integrations) { m.Handle("ecs", "runTask.sync", h) },
			`engine: Handle("ecs", "runTask.sync"): a handler gets the tasks of every pattern: register "runTask" without .sync`,
		},
		"the SDK without a service": {
			func(m *engine.Integrations) { m.Handle("aws-sdk", "putItem", h) },
			`engine: Handle("aws-sdk", "putItem"): an AWS SDK integration has a service`,
		},
		"a whole resource": {
			func(m *engine.Integrations) { m.Handle("arn:aws:states:::sns", "publish", h) },
			`no Resource has a service "arn:aws:states:::sns"`,
		},
		"both in one": {
			func(m *engine.Integrations) { m.Handle("sns:publish", "", h) }, `no Resource has a service "sns:publish"`,
		},
		"no action": {func(m *engine.Integrations) { m.Handle("sns", "", h) }, `no Resource has an action ""`},
		"a prefix":  {func(m *engine.Integrations) { m.Handle("sns", "pub*", h) }, `no Resource has an action "pub*"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, c.want) {
					t.Errorf("it panics with %q; want %q", got, c.want)
				}
			}()
			c.register(new(engine.Integrations))
		})
	}
}

// TestConstants compares what the engine's documentation shows as literals with what the interpreter uses.
func TestConstants(t *testing.T) {
	t.Parallel()
	if engine.MaxPayload != interpreter.MaxPayload || engine.StatesRuntime != plan.ErrRuntime ||
		engine.StatesTaskFailed != plan.ErrTaskFailed || engine.StatesTimeout != plan.ErrTimeout ||
		engine.StatesDataLimitExceeded != plan.ErrDataLimitExceeded ||
		engine.StatesItemReaderFailed != plan.ErrItemReaderFailed ||
		engine.Sync != engine.Pattern(plan.Sync) || engine.Sync2 != engine.Pattern(plan.Sync2) ||
		engine.WaitForTaskToken != engine.Pattern(plan.WaitForTaskToken) {
		t.Error("the constants differ from those of the interpreter")
	}
}

func TestFunctionsOfADefinition(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	const arn = "arn:aws:lambda:us-east-1:000000000000:function:"
	m, err := b.Compile(engine.Definition{Name: "m", Text: `{"StartAt":"A","States":{
		"A":{"Type":"Task","Resource":"` + arn + `a","Next":"P"},
		"P":{"Type":"Parallel","Next":"M","Branches":[{"StartAt":"B","States":{"B":{"Type":"Task","End":true,
			"Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"b:live","Payload":{}}}}}]},
		"M":{"Type":"Map","Next":"D","ItemProcessor":{"StartAt":"C","States":{"C":{"Type":"Task","End":true,
			"Resource":"arn:aws:states:::lambda:invoke.waitForTaskToken",
			"Parameters":{"FunctionName":"` + arn + `c","Payload":{"token.$":"$$.Task.Token"}}}}}},
		"D":{"Type":"Map","Next":"Dynamic","ItemProcessor":{
			"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},
			"StartAt":"E","States":{"E":{"Type":"Task","QueryLanguage":"JSONata","End":true,
			"Resource":"arn:aws:states:::lambda:invoke","Arguments":{"FunctionName":"e"}}}}},
		"Dynamic":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Next":"Expression",
			"Parameters":{"FunctionName.$":"$.f"}},
		"Expression":{"Type":"Task","QueryLanguage":"JSONata","Resource":"arn:aws:states:::lambda:invoke",
			"Arguments":{"FunctionName":"{% $states.input.f %}"},"Next":"Other"},
		"Other":{"Type":"Task","Resource":"arn:aws:states:::sns:publish","Parameters":{"FunctionName":"no"},"End":true}
		}}`})
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint([]engine.FunctionCall{{"A", arn + "a"}, {"B", "b:live"}, {"C", arn + "c"}, {"E", "e"}})
	if got := fmt.Sprint(m.Functions()); got != want {
		t.Errorf("the definition calls %s; want %s", got, want)
	}
}
