package engine_test

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
)

// computing is a machine whose first state's Output takes many steps.
func computing(expression string) string {
	return `{"QueryLanguage":"JSONata","TimeoutSeconds":5,"StartAt":"T","States":{"T":{` + call +
		`,"Output":"{% ` + expression + ` %}","End":true}}}`
}

// moderate takes some hundred thousand steps.
const moderate = "$sum([1..100000].($ % 7))"

func typesOf(t *testing.T, events []history.Event, err error) []history.Type {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var types []history.Type
	for _, e := range events {
		types = append(types, e.Type)
	}
	return types
}

// TestAStopInterruptsAnExpression stops an execution while an expression is evaluated, and redrives it.
func TestAStopInterruptsAnExpression(t *testing.T) {
	t.Parallel()
	b := newBed(t, func(context.Context, *engine.Task) (string, error) { return `{}`, nil })
	stops := 0
	engine.OnEvaluating(b.Engine, func(arn string) {
		if stops++; stops == 1 {
			if err := b.StopExecution(context.Background(), arn, history.NewFailure("Mine", "enough")); err != nil {
				t.Error(err)
			}
		}
	})
	arn := b.start(t, computing(moderate), `{}`)
	x, err := b.Wait(t.Context(), arn)
	if err != nil || x.Status != history.Aborted || x.Failure.Name != "Mine" {
		t.Fatalf("%+v, %v", x, err)
	}
	if stops != 1 {
		t.Errorf("the expression was evaluated on: %d checks", stops)
	}
	events, err := b.History(t.Context(), arn)
	want := []history.Type{history.ExecutionStarted, history.TaskStateEntered, history.TaskScheduled,
		history.TaskStarted, history.TaskSucceeded, history.ExecutionAborted}
	if got := typesOf(t, events, err); !slices.Equal(got, want) {
		t.Errorf("history %v, want %v", got, want)
	}
	if _, err := b.RedriveExecution(t.Context(), arn, ""); err != nil {
		t.Fatal(err)
	}
	if x, err = b.Wait(t.Context(), arn); err != nil || x.Status != history.Succeeded || x.Output != "300000" {
		t.Errorf("redriven: %+v, %v", x, err)
	}
}

// TestATimeoutInterruptsAnExpression lets the time of an execution be up while an expression is evaluated, which then
// does not return.
func TestATimeoutInterruptsAnExpression(t *testing.T) {
	t.Parallel()
	c := clock.Scaled(1000)
	e, err := engine.New(engine.Config{Clock: c, Journal: journal.NewMemory(), Seed: 1, Integrations: new(engine.Integrations).Handle("test", "call",
		invoke(func(context.Context, *engine.Task) (string, error) { return `{}`, nil }))})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	defer e.Close()
	engine.OnEvaluating(e, func(arn string) {
		for !engine.Ending(e, arn) {
			runtime.Gosched()
		}
	})
	m, err := e.Define(engine.Definition{Name: "m", Text: computing(moderate), RoleARN: "arn:aws:iam::000000000000:role/r"})
	if err != nil {
		t.Fatal(err)
	}
	arn, err := e.StartExecution(t.Context(), m.ARN, "e", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	x, err := e.Wait(t.Context(), arn)
	if err != nil || x.Status != history.TimedOut {
		t.Fatalf("%+v, %v", x, err)
	}
	events, err := e.History(t.Context(), arn)
	if got := typesOf(t, events, err); slices.Contains(got, history.TaskStateExited) {
		t.Errorf("history %v", got)
	}
}

// TestCloseInterruptsAnExpression closes an engine while an expression is evaluated. The step is not stored, and the
// next engine runs it again.
func TestCloseInterruptsAnExpression(t *testing.T) {
	t.Parallel()
	kept := journal.NewMemory()
	var invoked atomic.Int32
	answer := func(context.Context, *engine.Task) (string, error) {
		invoked.Add(1)
		return `{}`, nil
	}
	first := live(t, kept, 1000, answer)
	evaluating := make(chan struct{})
	engine.OnEvaluating(first.Engine, func(string) {
		close(evaluating)
		for !engine.Stopping(first.Engine) {
			runtime.Gosched()
		}
	})
	m, err := first.Define(engine.Definition{Name: "m", Text: computing(moderate), RoleARN: "arn:aws:iam::000000000000:role/r"})
	if err != nil {
		t.Fatal(err)
	}
	arn, err := first.StartExecution(t.Context(), m.ARN, "e", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	<-evaluating
	first.end() // a second check would close the channel again
	second := live(t, kept, 1000, answer)
	defer second.end()
	if x, err := second.Wait(t.Context(), arn); err != nil || x.Status != history.Succeeded || x.Output != "300000" {
		t.Errorf("%+v, %v", x, err)
	}
	if n := invoked.Load(); n != 2 {
		t.Errorf("the task was invoked %d times, want once by each engine", n)
	}
}
