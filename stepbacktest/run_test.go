package stepbacktest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
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

type order struct {
	ID int `json:"id"`
}

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
	run := stepbacktest.Run(t, orders, order{ID: 17}, after("Busy", "Busy"))
	run.WantSucceeded(json.RawMessage(`{"cents": 1200.0, "paid": true}`))
	run.WantSucceeded(map[string]any{"paid": true, "cents": 1200})
	run.WantEntered("Pause", "Charge", "Done")
	run.WantAttempts("Charge", 3)
	run.WantWaits("Charge", 2*time.Second, 4*time.Second)
	run.WantWaits("Pause", time.Minute)
	run.WantTook(66 * time.Second)

	run = stepbacktest.Run(t, orders, struct{}{}, after("Refused"))
	run.WantSucceeded("cancelled")
	run.WantEntered("Pause", "Charge", "Cancel", "Done")
	run.WantWaits("Charge")

	run = stepbacktest.Run(t, orders, struct{}{}, after("Busy", "Busy", "Busy", "Busy"))
	run.WantFailed("Busy")
	run.WantAttempts("Charge", 4)
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
	stepbacktest.Run(t, fmt.Sprintf(call, "double"), 21, cfg).WantSucceeded(42)
	stepbacktest.Run(t, fmt.Sprintf(call, "double"), "x", cfg).WantFailed("Runtime.UnmarshalError")
	run := stepbacktest.Run(t, fmt.Sprintf(call, "broken"), 1, cfg)
	run.WantFailed("errorString")
	if want := `{"errorMessage":"out of paper","errorType":"errorString"}`; run.Failure.Cause != want {
		t.Errorf("the cause is %s, not %s", run.Failure.Cause, want)
	}
	cfg.AllowUnregistered = true
	run = stepbacktest.Run(t, fmt.Sprintf(call, "absent"), []byte(`1`), cfg)
	run.WantFailed("Lambda.ResourceNotFoundException")
	if !strings.Contains(run.Failure.Cause, "The functions of this engine are: broken, double") {
		t.Errorf("the cause is %s", run.Failure.Cause)
	}
}

// A program can add an integration that AWS does not have.
func TestIntegrationsOfOnesOwn(t *testing.T) {
	t.Parallel()
	stepbacktest.Run(t, `{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "arn:aws:states:::mail:send",
		"Parameters": {"to.$": "$.to"}, "End": true}}}`, map[string]string{"to": "ann"}, stepbacktest.Options{
		Integrations: new(stepback.Integrations).Handle("mail", "send", mail{}),
	}).WantSucceeded(json.RawMessage(`{"sent": {"to": "ann"}}`))
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

// Fatalf implements testing.TB. It ends the goroutine, as testing's own does.
func (l *listener) Fatalf(format string, args ...any) {
	l.Errorf(format, args...)
	runtime.Goexit()
}

func (l *listener) Errorf(format string, args ...any) {
	l.reported = append(l.reported, fmt.Sprintf(format, args...))
}

func TestWhatIsNotExpectedIsReported(t *testing.T) {
	t.Parallel()
	l := &listener{TB: t}
	run := stepbacktest.Run(l, orders, json.RawMessage(`{"id": 17}`), after("Busy", "Other"))
	run.WantSucceeded(struct{}{})
	run.WantFailed("Busy")
	run.WantEntered("Charge")
	run.WantAttempts("Charge", 1)
	run.WantWaits("Charge", time.Second)
	run.WantTook(time.Second)
	want := []string{
		"the execution did not succeed: FAILED, Other: ",
		"the execution ended as FAILED, Other: ",
		"the entered states are Pause, Charge; expected Charge",
		"the state Charge ran 2 times; expected 1",
		"the waits of the state Charge are [2s]; expected [1s]",
		"the execution took 1m2s; expected 1s",
	}
	if len(l.reported) != len(want) {
		t.Fatalf("%d reports: %q", len(l.reported), l.reported)
	}
	for i, r := range l.reported {
		history := strings.Contains(r, "+1m0s  LambdaFunctionFailed Charge Busy: ")
		if !strings.HasPrefix(r, want[i]) || history != (i == 0) { // once for all reports
			t.Errorf("report %d is %s", i, r)
		}
	}
}

// TestWhatEndsATest runs a definition that calls an unregistered function, an input that is not JSON, and an
// input that has no JSON.
func TestWhatEndsATest(t *testing.T) {
	t.Parallel()
	misspelt := strings.Replace(orders, "function:charge", "function:chrge", 1)
	for want, run := range map[string]func(l *listener){
		`defining the state machine: state machine Test calls functions that are not registered: state "Charge" ` +
			`calls "chrge" (did you mean "charge"?); registered: charge`: func(l *listener) {
			stepbacktest.Run(l, misspelt, nil, after())
		},
		"starting the execution: invalid state machine execution input: ": func(l *listener) {
			stepbacktest.Run(l, orders, json.RawMessage(`{`), after())
		},
		"starting the execution: the input of test: json: unsupported type: chan int": func(l *listener) {
			stepbacktest.Run(l, orders, make(chan int), after())
		},
		"the expected output is not JSON: ": func(l *listener) {
			stepbacktest.Run(l, orders, order{ID: 17}, after()).WantSucceeded([]byte(`}`))
		},
	} {
		l := &listener{TB: t}
		var wg sync.WaitGroup
		wg.Go(func() { run(l) })
		wg.Wait()
		if len(l.reported) != 1 || !strings.HasPrefix(l.reported[0], want) {
			t.Errorf("%q; want %q", l.reported, want)
		}
	}
}

// TestErrorName names errors by the test's own hook.
func TestErrorName(t *testing.T) {
	t.Parallel()
	cfg := stepbacktest.Options{
		ErrorName: func(error) string { return "Busy" },
		Functions: stepback.Functions{
			"charge": stepback.Func(func(context.Context, order) (any, error) { return nil, errors.New("later") }),
		},
	}
	run := stepbacktest.Run(t, orders, order{ID: 17}, cfg)
	run.WantFailed("Busy")
	run.WantAttempts("Charge", 4)
}
