package durablefunctions_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"stepback/engine/clock"
	"stepback/engine/durable"
	"stepback/engine/journal"
	"stepback/local/services/lambda/durablefunctions"
)

// awaiting returns a function that waits for a callback with options, and returns the callback's status.
func awaiting(options string) handler {
	return func(ctx context.Context, s *durablefunctions.Service, e *event) (string, error) {
		if status := e.of("c").Status; status != "" && status != "STARTED" {
			return `{"Status":"SUCCEEDED","Result":"\"` + status + `\""}`, nil
		}
		err := e.checkpoint(ctx, s, `[{"Id":"c","Type":"CALLBACK","Action":"START","CallbackOptions":`+options+`}]`)
		return suspended, err
	}
}

// A callback that no client completes: virtual time advances to its timeout, as it does for the TimeoutSeconds of a
// state. It advances to the timeout of the execution only after the time that a completion from outside may take,
// because Lambda requires that timeout of every function.
func TestVirtualTimeAdvancesToTimeouts(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		options, want string
		real          time.Duration
		answered      bool
	}{
		{options: `{"TimeoutSeconds":600}`, want: "ExecutionStarted@0 CallbackStarted@0 InvocationCompleted@0 " +
			"CallbackTimedOut@600 InvocationCompleted@600 ExecutionSucceeded@600"},
		{options: `{"TimeoutSeconds":600,"HeartbeatTimeoutSeconds":60}`, want: "ExecutionStarted@0 CallbackStarted@0 " +
			"InvocationCompleted@0 CallbackTimedOut@60 InvocationCompleted@60 ExecutionSucceeded@60"},
		{options: `{"TimeoutSeconds":901}`, want: "ExecutionStarted@0 CallbackStarted@0 InvocationCompleted@0 ExecutionTimedOut@900"},
		{options: `{}`, real: 30 * time.Second, want: "ExecutionStarted@0 CallbackStarted@0 InvocationCompleted@0 ExecutionTimedOut@900"},
		{options: `{}`, real: 29 * time.Second, answered: true, want: "ExecutionStarted@0 CallbackStarted@0 InvocationCompleted@0 " +
			"CallbackSucceeded@0 InvocationCompleted@0 ExecutionSucceeded@0"},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := clock.Virtual(began)
			defer c.Close()
			s, _ := open(t, journal.NewMemory(), c, map[string]handler{"F": awaiting(x.options)})
			defer s.Close()
			in := request(`1`)
			in.Type = "Event"
			a, err := s.Invoke(t.Context(), version, in)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			events, err := s.History(t.Context(), a.DurableExecutionARN)
			if x.real > 0 && (err != nil || len(events) != 3) {
				t.Errorf("%s: at once: %s, %v", x.options, types(events), err)
			}
			<-time.After(x.real) //nolint:forbidigo // virtual time
			if x.answered {
				if err := s.Complete(t.Context(), &durable.Callback{ID: callbackOf(t, s, a.DurableExecutionARN),
					Outcome: durable.Outcome{Status: durable.Succeeded}}); err != nil {
					t.Error(err)
				}
			}
			synctest.Wait()
			if events, err := s.History(t.Context(), a.DurableExecutionARN); err != nil || types(events) != x.want {
				t.Errorf("%s: %s, %v", x.options, types(events), err)
			}
		})
	}
}
