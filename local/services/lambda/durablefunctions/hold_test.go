package durablefunctions_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"stepback/engine"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/pebble"
	"stepback/local/services/lambda/durablefunctions"
)

// awaitDue waits until as many retries are held at their due time.
func awaitDue(s *durablefunctions.Service, n int) {
	for {
		if h := s.Held(scope); len(h) > 0 && h[0].Due == n {
			return
		}
		runtime.Gosched()
	}
}

// A held retry of a step is due and does not begin, also in the next process. After the release, it waits for the rest
// of its delay, and its attempts count on.
func TestRetriesOfStepsAreHeld(t *testing.T) {
	t.Parallel()
	j, err := pebble.Open(t.TempDir(), pebble.Config{Retention: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	c := virtual(t)
	s, f := open(t, j, c, map[string]handler{"F": retrying})
	other := engine.Hold{Machine: "F", Error: "Other"}
	s.Hold(scope, other)
	held := engine.Hold{Machine: "F", Error: "E", State: "charge", Since: began}
	s.Hold(scope, held)
	if due, err := s.Release(scope, other); due != 0 || err != nil {
		t.Error(due, err)
	}
	if _, err := s.Release(scope, other); !errors.Is(err, engine.ErrNoHold) {
		t.Error(err)
	}
	in := request(`1`)
	in.Type, in.DurableExecutionName = "Event", "x"
	a, err := s.Invoke(t.Context(), version, in)
	if err != nil {
		t.Fatal(err)
	}
	awaitDue(s, 1)
	if n := f.calls.Load(); n != 1 || c.Now().Sub(began) != time.Minute {
		t.Errorf("%d invocations, at %s", n, c.Now().Sub(began))
	}
	s.Close()

	f = &functions{handlers: map[string]handler{"F": retrying}}
	s, err = durablefunctions.Open(t.Context(), durablefunctions.Options{Journal: j, Clock: c, Functions: f})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f.service.Store(s)
	s.Hold(scope, held)
	s.Resume()
	awaitDue(s, 1)
	if n := f.calls.Load(); n != 0 {
		t.Errorf("%d invocations after the restart", n)
	}
	if due, err := s.Release(scope, held); due != 1 || err != nil {
		t.Error(due, err)
	}
	in.Type = ""
	if got, err := s.Invoke(t.Context(), version, in); err != nil || string(got.Payload) != `"paid"` {
		t.Errorf("%+v, %v", got, err)
	}
	events, err := s.History(t.Context(), a.DurableExecutionARN)
	if got, want := types(events), "ExecutionStarted@0 StepStarted@0 StepFailed@0 InvocationCompleted@0 "+
		"StepStarted@120 StepFailed@120 InvocationCompleted@120 "+
		"StepStarted@180 StepSucceeded@180 InvocationCompleted@180 ExecutionSucceeded@180"; err != nil || got != want {
		t.Errorf("%s, %v\nwant %s", got, err, want)
	}
	if len(s.Held(scope)) != 0 {
		t.Error(s.Held(scope))
	}
	if _, err := j.Check(t.Context(), func(err error) { t.Error(err) }); err != nil {
		t.Error(err)
	}
}

// A hold leaves everything else of its execution alone, RetryNow begins a held retry, and an execution times out during
// a hold.
func TestAHoldLeavesTheRestAlone(t *testing.T) {
	t.Parallel()
	c := virtual(t)
	beside := func(ctx context.Context, s *durablefunctions.Service, e *event) (string, error) {
		switch {
		case e.of("w").Status == "":
			return suspended, e.checkpoint(ctx, s, `[{"Id":"w","Type":"WAIT","Action":"START","WaitOptions":{"WaitSeconds":300}},
				{"Id":"s","Type":"STEP","Action":"START"},
				{"Id":"s","Type":"STEP","Action":"RETRY","StepOptions":{"NextAttemptDelaySeconds":60}}]`)
		case e.of("s").Status == "PENDING":
			if err := e.checkpoint(ctx, s, `[{"Id":"s","Type":"STEP","Action":"START"}]`); err == nil {
				return "", errors.New("a held step has begun")
			}
			return suspended, nil
		}
		return `{"Status":"SUCCEEDED","Result":"1"}`, nil
	}
	s, _ := open(t, journal.NewMemory(), c, map[string]handler{"F": beside})
	defer s.Close()
	s.Hold(scope, engine.Hold{State: "s"}) // it has no name
	in := request(`1`)
	in.Type = "Event"
	arns := make([]string, 2)
	c.Hold()
	for i := range arns {
		a, err := s.Invoke(t.Context(), version, in)
		if err != nil {
			t.Fatal(err)
		}
		arns[i] = a.DurableExecutionARN
	}
	c.Release()
	awaitDue(s, 2)
	for c.Now().Sub(began) != 300*time.Second {
		runtime.Gosched()
	}
	for _, arn := range arns { // the wait has ended, and its invocation, too
		for {
			if events, err := s.History(t.Context(), arn); err != nil || len(events) == 7 {
				break
			}
			runtime.Gosched()
		}
	}
	if err := s.RetryNow(t.Context(), arns[0], "s"); err != nil {
		t.Error(err)
	}
	c.Hold()
	if err := c.Sleep(t.Context(), time.Hour); err != nil {
		t.Error(err)
	}
	c.Release()
	for i, want := range []string{"ExecutionSucceeded@300", "ExecutionTimedOut@900"} {
		events, err := s.History(t.Context(), arns[i])
		if got := types(events[len(events)-1:]); err != nil || got != want {
			t.Errorf("%s, want %s: %s, %v", got, want, types(events), err)
		}
	}
	if h := s.Held(scope); len(h) != 1 || h[0].Due != 0 {
		t.Errorf("%+v", h)
	}
}

// The limit of an engine applies to chained invokes: three calls of a function that takes one a second.
func TestChainedInvokesAreLimited(t *testing.T) {
	t.Parallel()
	c := virtual(t)
	e, err := engine.New(engine.Config{Clock: c, Journal: journal.NewMemory()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	const arn = "arn:aws:lambda:us-east-1:000000000000:function:plain"
	if err := e.LimitCalls(engine.CallLimit{Callee: arn, PerSecond: 1}); err != nil {
		t.Fatal(err)
	}
	f := &functions{handlers: map[string]handler{
		"F": func(ctx context.Context, s *durablefunctions.Service, e *event) (string, error) {
			for _, id := range []string{"a", "b", "c", "d"} {
				switch e.of(id).Status {
				case "":
					return suspended, e.checkpoint(ctx, s, `[
						{"Id":"a","Type":"CHAINED_INVOKE","Action":"START","ChainedInvokeOptions":{"FunctionName":"plain"}},
						{"Id":"b","Type":"CHAINED_INVOKE","Action":"START","ChainedInvokeOptions":{"FunctionName":"plain:1"}},
						{"Id":"c","Type":"CHAINED_INVOKE","Action":"START","ChainedInvokeOptions":{"FunctionName":"`+arn+`:live"}},
						{"Id":"d","Type":"CHAINED_INVOKE","Action":"START","ChainedInvokeOptions":{"FunctionName":"plain-too"}}]`)
				case "STARTED":
					return suspended, nil
				}
			}
			return `{"Status":"SUCCEEDED","Result":"1"}`, nil
		},
		"plain":     func(context.Context, *durablefunctions.Service, *event) (string, error) { return `1`, nil },
		"plain-too": func(context.Context, *durablefunctions.Service, *event) (string, error) { return `1`, nil },
	}}
	s, err := durablefunctions.Open(t.Context(), durablefunctions.Options{Journal: journal.NewMemory(), Clock: c,
		Functions: f,
		AwaitCall: e.AwaitCall})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f.service.Store(s)
	s.Resume()
	a, err := s.Invoke(t.Context(), version, request(`1`))
	if err != nil || a.FunctionError != "" {
		t.Fatalf("%+v, %v", a, err)
	}
	events, err := s.History(t.Context(), a.DurableExecutionARN)
	if err != nil {
		t.Fatal(err)
	}
	at := map[time.Duration]int{}
	for i := range events {
		if events[i].Type == history.DurableInvokeSucceeded {
			at[events[i].At().Sub(began)]++
		}
	}
	if at[0] != 2 || at[time.Second] != 1 || at[2*time.Second] != 1 {
		t.Errorf("%v", at)
	}
}
