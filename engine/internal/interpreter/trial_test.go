package interpreter_test

import (
	"testing"
	"time"

	"stepback/asl"
	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/plan"
	"stepback/jsonvalue"
)

const triedMachine = `{"StartAt":"T","States":{
	"T":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"n.$":"$.n"},"ResultPath":"$.r","Next":"P",
		"Retry":[{"ErrorEquals":["Slow"],"IntervalSeconds":2,"BackoffRate":2,"MaxAttempts":4}],
		"Catch":[{"ErrorEquals":["Broken"],"Next":"P"}]},
	"P":{"Type":"Pass","End":true}}}`

// try runs the Task state of triedMachine with answer as the task's signal.
func try(t *testing.T, tr *interpreter.Trial, answer interpreter.Signal) *interpreter.Execution {
	t.Helper()
	m, diagnostics := asl.Options{}.Parse(triedMachine)
	if asl.HasErrors(diagnostics) {
		t.Fatal(diagnostics)
	}
	p, err := plan.Compile(m)
	if err != nil {
		t.Fatal(err)
	}
	tr.State = p.Root.Find("T")
	x := newTrial(tr, `{"n":1,"m":2}`)
	var r interpreter.Result
	x.Step(&interpreter.Signal{Kind: interpreter.Start, At: time.Unix(0, 0)}, &r)
	answer.At, answer.ID = time.Unix(1, 0), r.Effects[0].ID
	x.Step(&answer, &r)
	return x
}

func TestTrialKeepsEveryStage(t *testing.T) {
	t.Parallel()
	tr := &interpreter.Trial{}
	x := try(t, tr, interpreter.Signal{Kind: interpreter.TaskSucceeded, Output: jsonvalue.TextDocument(`7`)})
	if x.Status() != history.Succeeded || x.Output() != `{"n":1,"m":2,"r":7}` || tr.Next != "P" {
		t.Errorf("got %s, %s, next %q", x.Status(), x.Output(), tr.Next)
	}
	for stage, want := range map[interpreter.Stage]string{
		interpreter.AfterInputPath: `{"n":1,"m":2}`, interpreter.AfterParameters: `{"n":1}`,
		interpreter.TaskResult:          `7`,
		interpreter.AfterResultSelector: `7`, interpreter.AfterResultPath: `{"n":1,"m":2,"r":7}`,
	} {
		if got := tr.Stages[stage]; got != want {
			t.Errorf("%s: got %s, want %s", stage, got, want)
		}
	}
}

func TestTrialOfAFailure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err     string
		retried int64
		status  history.Status
		backoff time.Duration
		caught  bool
	}{
		"first retry":  {"Slow", 0, history.Failed, 2 * time.Second, false},
		"fourth retry": {"Slow", 3, history.Failed, 16 * time.Second, false},
		"no more":      {"Slow", 4, history.Failed, 0, false},
		"caught":       {"Broken", 0, history.Succeeded, 0, true},
		"unhandled":    {"Other", 0, history.Failed, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := &interpreter.Trial{Retried: c.retried}
			x := try(t, tr, interpreter.Signal{Kind: interpreter.TaskFailed, Failure: history.NewFailure(c.err, "why")})
			var backoff time.Duration
			if tr.Backoff != nil {
				backoff = *tr.Backoff
			}
			if x.Status() != c.status || backoff != c.backoff || (tr.Catcher != nil) != c.caught {
				t.Errorf("got %s after %v, catcher %v", x.Status(), backoff, tr.Catcher)
			}
		})
	}
}

// TestTrialJudgesNumbersAsExecutionsDo tries a Map state whose numbers come from its input: they are validated as in
// executions.
func TestTrialJudgesNumbersAsExecutionsDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ field, value, cause string }{
		{"ToleratedFailurePercentage", "12.5", ""},
		{"ToleratedFailurePercentage", `"12.5"`, ""},
		{"ToleratedFailurePercentage", `"x"`,
			`The ToleratedFailurePercentagePath field refers to value "x" which is not a valid float: $.n`},
		{"ToleratedFailurePercentage", `"NaN"`,
			`The ToleratedFailurePercentagePath field refers to value "NaN" which is not a valid float: $.n`},
		{"ToleratedFailureCount", `"1"`, ""},
		{"MaxConcurrency", `"1"`, ""},
		{"ToleratedFailurePercentage", "101", "ToleratedFailurePercentage must be between 0 and 100."},
		{"ToleratedFailureCount", "-1", "ToleratedFailureCount cannot be negative."},
		{"MaxConcurrency", "-1", "MaxConcurrency cannot be negative."},
		{"MaxConcurrency", "1.5", `The MaxConcurrencyPath field refers to value "1.5" which is not a valid integer: $.n`},
	} {
		m, diagnostics := asl.Options{}.Parse(`{"StartAt":"M","States":{"M":{"Type":"Map","End":true,"ItemsPath":"$.i","` + c.field + `Path":"$.n",
			"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"I","States":{"I":{"Type":"Succeed"}}}}}}`)
		if asl.HasErrors(diagnostics) {
			t.Fatal(diagnostics)
		}
		p, err := plan.Compile(m)
		if err != nil {
			t.Fatal(err)
		}
		tr := &interpreter.Trial{State: p.Root.Find("M"), Result: jsonvalue.TextDocument(`[1]`)}
		x := newTrial(tr, `{"i":[1],"n":`+c.value+`}`)
		x.Step(&interpreter.Signal{Kind: interpreter.Start, At: time.Unix(0, 0)}, &interpreter.Result{})
		if x.Failure().Cause != c.cause || (c.cause == "") != (x.Status() == history.Succeeded) {
			t.Errorf("%s of %s: %s %q, want %q", c.field, c.value, x.Status(), x.Failure().Cause, c.cause)
		}
	}
}

func newTrial(tr *interpreter.Trial, input string) *interpreter.Execution {
	return interpreter.NewTrial(tr, interpreter.Machine{}, &history.Info{Origin: history.Origin{Input: input}})
}
