package runner_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"stepback/aws"
	"stepback/services/lambda/runner"
	"stepback/tasks/lambda/invocation"
)

func TestAnEventIsHandledOnceOrTriedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fails, want int32 // attempts
	}{"at once": {0, 1}, "the third time": {2, 3}, "never": {9, 3}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var attempts atomic.Int32
			done := make(chan struct{}, 3)
			logs := &memoryLog{more: make(chan struct{}, 1)}
			s := serve(t, runner.Function{Name: "F", Handler: func() error {
				defer func() { done <- struct{}{} }()
				if attempts.Add(1) <= c.fails {
					return errors.New("not yet")
				}
				return nil
			}}, runner.Options{Logs: logs, EventRetries: []time.Duration{time.Microsecond, time.Microsecond}})
			id, err := s.InvokeEvent(&invocation.Request{FunctionName: "F", Payload: []byte(`{}`)}, runner.EventHandling{})
			if err != nil || !requestID.MatchString(id) {
				t.Fatalf("%q, %v", id, err)
			}
			for range c.want {
				<-done
			}
			if c.fails > c.want && !logs.waitFor(t.Context(), id+" the event is dropped after 3 attempts\n") {
				t.Error("no word of the event that was lost")
			}
			if err := s.Close(t.Context()); err != nil || attempts.Load() != c.want {
				t.Errorf("%d attempts, %v", attempts.Load(), err)
			}
		})
	}
}

func TestAThrottledEventWaits(t *testing.T) {
	t.Parallel()
	began := make(chan struct{}, 2)
	s := serve(t, runner.Function{Name: "F", Handler: func(ctx context.Context) {
		began <- struct{}{}
		<-ctx.Done()
	}, Timeout: time.Minute}, runner.Options{})
	s.SetConcurrency("F", 1)
	how := runner.EventHandling{Ended: func(_ context.Context, e *runner.EventEnd) bool {
		t.Errorf("it ended: %+v", e)
		return true
	}}
	for range 2 {
		if _, err := s.InvokeEvent(&invocation.Request{FunctionName: "F"}, how); err != nil {
			t.Error(err) // and closing the service does not wait for the one that is throttled
		}
	}
	<-began
}

func TestEventsAreRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, runner.Function{Name: "F", Handler: func() {}}, runner.Options{})
	for name, c := range map[string]struct {
		in     *invocation.Request
		status int
		want   string
	}{
		"too large": {&invocation.Request{FunctionName: "F", Payload: []byte(`"` + strings.Repeat("x", 1<<20) + `"`)},
			http.StatusRequestEntityTooLarge,
			"1048578 byte payload is too large for the Event invocation type (limit 1048576 bytes)"},
		"unknown": {&invocation.Request{FunctionName: "G"}, http.StatusNotFound,
			"Function not found: arn:aws:lambda:us-east-1:000000000000:function:G:$LATEST"},
		"not JSON": {&invocation.Request{FunctionName: "F", Payload: []byte(`{`)}, http.StatusBadRequest,
			"Could not parse request body into json: the payload is not valid JSON"},
	} {
		_, err := s.InvokeEvent(c.in, runner.EventHandling{})
		var api *aws.Error
		if !errors.As(err, &api) || api.Status != c.status || api.Message != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestManyEventsAreBounded(t *testing.T) {
	t.Parallel()
	s := serve(t, runner.Function{Name: "F", Handler: func(ctx context.Context) { <-ctx.Done() }, Timeout: time.Minute,
		Environments: 1}, runner.Options{})
	var err error
	taken := 0
	for ; err == nil && taken < 2000; taken++ {
		_, err = s.InvokeEvent(&invocation.Request{FunctionName: "F"}, runner.EventHandling{})
	}
	var api *aws.Error
	if !errors.As(err, &api) || api.Code != "TooManyRequestsException" || taken != 1001 {
		t.Errorf("%d, %v", taken, err)
	}
}

func TestAnEventEnds(t *testing.T) {
	t.Parallel()
	none, hour := 0, time.Hour
	for name, c := range map[string]struct {
		fails       bool
		concurrency int
		how         runner.EventHandling
		condition   runner.Condition
		attempts    int
	}{
		"well":                           {false, 1, runner.EventHandling{}, runner.Success, 1},
		"without being retried":          {true, 1, runner.EventHandling{Retries: &none}, runner.RetriesExhausted, 1},
		"too old to be retried":          {true, 1, runner.EventHandling{MaxAge: time.Minute}, runner.EventAgeExceeded, 1},
		"at a function that may not run": {false, 0, runner.EventHandling{}, runner.ZeroReservedConcurrency, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, runner.Function{Name: "F", Handler: func() error {
				if c.fails {
					return errors.New("no")
				}
				return nil
			}}, runner.Options{EventRetries: []time.Duration{hour, hour}})
			s.SetConcurrency("F", c.concurrency)
			ended := make(chan *runner.EventEnd, 1)
			c.how.Ended = func(_ context.Context, e *runner.EventEnd) bool {
				ended <- e
				return true
			}
			id, err := s.InvokeEvent(&invocation.Request{FunctionName: "F", Payload: []byte(`{"a":1}`)}, c.how)
			if err != nil {
				t.Fatal(err)
			}
			e := <-ended
			if e.RequestID != id || e.Condition != c.condition || e.Attempts != c.attempts || string(e.Event) != `{"a":1}` ||
				(e.Answer != nil) != (c.attempts > 0) {
				t.Errorf("%+v", e)
			}
		})
	}
}
