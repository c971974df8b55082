package stepbacktest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"stepback"
	"stepback/engine"
	"stepback/stepbacktest"
)

const orders = `{"StartAt": "Pause", "States": {
	"Pause": {"Type": "Wait", "Seconds": 60, "Next": "Charge"},
	"Charge": {
		"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:000000000000:function:charge",
		"Retry": [{"ErrorEquals": ["Busy"], "IntervalSeconds": 2, "MaxAttempts": 3, "BackoffRate": 2}],
		"Catch": [{"ErrorEquals": ["Refused"], "Next": "Cancel"}], "Next": "Done"
	},
	"Cancel": {"Type": "Pass", "Result": "cancelled", "Next": "Done"},
	"Done": {"Type": "Succeed"}
}}`

// after returns functions that fail with the given errors in order, and then succeed.
func after(names ...string) stepbacktest.Options {
	return stepbacktest.Options{Functions: stepback.Functions{
		"charge": stepback.Func(func(context.Context, map[string]any) (map[string]any, error) {
			if len(names) == 0 {
				return map[string]any{"paid": true, "cents": 1200}, nil
			}
			name := names[0]
			names = names[1:]
			return nil, &stepback.Failure{Name: name, Cause: "not now"}
		}),
	}}
}

func TestWhatIsExpectedHappens(t *testing.T) {
	t.Parallel()
	run := stepbacktest.Run(t, orders, `{"id": 17}`, after("Busy", "Busy"))
	run.Succeeded(`{"cents": 1200.0, "paid": true}`)
	run.Entered("Pause", "Charge", "Done")
	run.Attempts("Charge", 3)
	run.Waits("Charge", 2*time.Second, 4*time.Second)
	run.Waits("Pause", time.Minute)
	run.Took(66 * time.Second)

	run = stepbacktest.Run(t, orders, `{}`, after("Refused"))
	run.Succeeded(`"cancelled"`)
	run.Entered("Pause", "Charge", "Cancel", "Done")
	run.Waits("Charge")

	run = stepbacktest.Run(t, orders, `{}`, after("Busy", "Busy", "Busy", "Busy"))
	run.Failed("Busy")
	run.Attempts("Charge", 4)
}

// TestFunctionsAreLambdaFunctions calls a function through the integration, one that does not exist, and one that
// cannot decode its event.
func TestFunctionsAreLambdaFunctions(t *testing.T) {
	t.Parallel()
	const call = `{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke",
		"Parameters": {"FunctionName": "%s", "Payload.$": "$"}, "OutputPath": "$.Payload", "End": true}}}`
	cfg := stepbacktest.Options{Functions: stepback.Functions{
		"double": stepback.Func(func(_ context.Context, n int) (int, error) { return 2 * n, nil }),
		"broken": stepback.Func(func(context.Context, any) (any, error) {
			return nil,
				fmt.Errorf("out of %s", "paper")
		}),
	}}
	stepbacktest.Run(t, fmt.Sprintf(call, "double"), `21`, cfg).Succeeded(`42`)
	stepbacktest.Run(t, fmt.Sprintf(call, "double"), `"x"`, cfg).Failed("Runtime.UnmarshalError")
	run := stepbacktest.Run(t, fmt.Sprintf(call, "broken"), `1`, cfg)
	run.Failed("errorString")
	if want := `{"errorMessage":"out of paper","errorType":"errorString"}`; run.Failure.Cause != want {
		t.Errorf("the cause is %s, not %s", run.Failure.Cause, want)
	}
	run = stepbacktest.Run(t, fmt.Sprintf(call, "absent"), `1`, cfg)
	run.Failed("Lambda.ResourceNotFoundException")
	if !strings.Contains(run.Failure.Cause, "The functions of this engine are: broken, double") {
		t.Errorf("the cause is %s", run.Failure.Cause)
	}
}

// A program can add an integration that AWS does not have.
func TestIntegrationsOfOnesOwn(t *testing.T) {
	t.Parallel()
	stepbacktest.Run(t, `{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "arn:aws:states:::mail:send",
		"Parameters": {"to.$": "$.to"}, "End": true}}}`, `{"to": "ann"}`, stepbacktest.Options{
		Integrations: map[string]stepback.Integration{"mail:send": mail{}},
	}).Succeeded(`{"sent": {"to": "ann"}}`)
}

type mail struct{}

func (mail) Invoke(_ context.Context, task *stepback.Task) (stepback.Result, error) {
	return engine.TextResult(`{"sent":` + task.Parameters + `}`), nil
}

// listener collects the failures that a test reports.
type listener struct {
	testing.TB
	reported []string
}

func (l *listener) Helper() {}

func (l *listener) Errorf(format string, args ...any) {
	l.reported = append(l.reported, fmt.Sprintf(format, args...))
}

func TestWhatIsNotExpectedIsReported(t *testing.T) {
	t.Parallel()
	l := &listener{TB: t}
	run := stepbacktest.Run(l, orders, `{"id": 17}`, after("Busy", "Other"))
	run.Succeeded(`{}`)
	run.Failed("Busy")
	run.Entered("Charge")
	run.Attempts("Charge", 1)
	run.Waits("Charge", time.Second)
	run.Took(time.Second)
	want := []string{
		"the execution did not succeed: FAILED, Other: ",
		"the execution ended as FAILED, Other: ",
		"the states entered are Pause, Charge; expected were Charge\n",
		"the state Charge was carried out 2 times; expected were 1\n",
		"the waits of the state Charge are [2s]; expected were [1s]\n",
		"the execution took 1m2s; expected was 1s\n",
	}
	if len(l.reported) != len(want) {
		t.Fatalf("%d reports: %q", len(l.reported), l.reported)
	}
	for i, r := range l.reported {
		if !strings.HasPrefix(r, want[i]) || !strings.Contains(r, "+1m0s  LambdaFunctionFailed Charge Busy: ") {
			t.Errorf("report %d is %s", i, r)
		}
	}
}
