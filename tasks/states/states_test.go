package states_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/jsonvalue"
	"stepback/tasks/states"
)

// api simulates Step Functions: it describes an execution with the given texts in order.
type api struct {
	described []string
	called    []string
}

func (a *api) Invoke(context.Context, *engine.Task) (engine.Result, error) {
	a.called = append(a.called, "StartExecution")
	return engine.TextResult(`{"ExecutionArn":"x","StartDate":1}`), nil
}

func (a *api) Call(_ context.Context, _, action string, params jsonvalue.Value) (jsonvalue.Value, error) {
	a.called = append(a.called, action+params.JSON())
	if action != "DescribeExecution" {
		return jsonvalue.Parse("{}")
	}
	text := a.described[0]
	if len(a.described) > 1 {
		a.described = a.described[1:]
	}
	return jsonvalue.Parse(text)
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	const (
		succeeded = `{"ExecutionArn":"x","Input":"{}","Output":"[1]","Status":"SUCCEEDED"}`
		failed    = `{"Error":"E","ExecutionArn":"x","Input":"{}","Status":"FAILED"}`
	)
	for name, c := range map[string]struct {
		pattern                engine.Pattern
		described, output, err string
	}{
		"request response": {engine.RequestResponse, failed, `{"ExecutionArn":"x","StartDate":1}`, ""},
		"sync":             {engine.Sync, succeeded, succeeded, ""},
		"sync:2 reads the texts": {engine.Sync2, succeeded,
			`{"ExecutionArn":"x","Input":{},"Output":[1],"Status":"SUCCEEDED"}`, ""},
		"sync of a failed one": {engine.Sync, failed, "", "States.TaskFailed: " + failed},
		"sync:2 of a stopped one": {engine.Sync2, `{"Status":"ABORTED"}`, "",
			`States.TaskFailed: {"Status":"ABORTED"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := states.Integration{API: &api{described: []string{c.described}}, Await: func(context.Context,
				*engine.Task, string) error {
				return nil
			}}
			got, err := i.Invoke(t.Context(), &engine.Task{Pattern: c.pattern})
			if c.err != "" {
				if err == nil || err.Error() != c.err {
					t.Errorf("got %v, want %s", err, c.err)
				}
				return
			}
			if err != nil || got.Text() != c.output {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func TestGivenUpTaskStopsItsExecution(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	a := &api{}
	i := states.Integration{API: a, Await: func(ctx context.Context, _ *engine.Task, _ string) error {
		cancel()
		return ctx.Err()
	}}
	if _, err := i.Invoke(ctx, &engine.Task{Pattern: engine.Sync}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if want := []string{"StartExecution", `StopExecution{"ExecutionArn":"x"}`}; !slices.Equal(a.called, want) {
		t.Errorf("called %q, want %q", a.called, want)
	}
}

func TestAClosingEngineLeavesTheExecution(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	a := &api{}
	i := states.Integration{API: a, Await: func(ctx context.Context, _ *engine.Task, _ string) error {
		cancel(engine.ErrClosed)
		return ctx.Err()
	}}
	if _, err := i.Invoke(ctx, &engine.Task{Pattern: engine.Sync}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if want := []string{"StartExecution"}; !slices.Equal(a.called, want) {
		t.Errorf("called %q, want %q", a.called, want)
	}
}

func TestASubmittedExecutionIsNotStartedAgain(t *testing.T) {
	t.Parallel()
	a := &api{described: []string{`{"Status":"SUCCEEDED"}`}}
	i := states.Integration{API: a, Await: func(context.Context, *engine.Task, string) error { return nil }}
	got, err := i.Invoke(t.Context(), &engine.Task{Pattern: engine.Sync,
		Submission: `{"ExecutionArn":"before","StartDate":1}`})
	if err != nil || got.Text() != `{"Status":"SUCCEEDED"}` {
		t.Errorf("got %v, %v", got, err)
	}
	if want := []string{`DescribeExecution{"ExecutionArn":"before"}`}; !slices.Equal(a.called, want) {
		t.Errorf("called %q, want %q", a.called, want)
	}
}

func TestPoll(t *testing.T) {
	t.Parallel()
	c := clock.Virtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	defer c.Close()
	c.Hold()
	defer c.Release()
	before := c.Now()
	a := &api{described: []string{`{"Status":"RUNNING"}`, `{"Status":"RUNNING"}`, `{"Status":"SUCCEEDED"}`}}
	if err := states.Poll(a, c)(t.Context(), &engine.Task{}, "x"); err != nil {
		t.Fatal(err)
	}
	if took := c.Now().Sub(before); len(a.called) != 3 || took != 4*time.Second {
		t.Errorf("%d looks in %s, want 3 in 4s", len(a.called), took)
	}
}
