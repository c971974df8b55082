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
			id, err := s.InvokeEvent(&invocation.Request{FunctionName: "F", Payload: []byte(`{}`)})
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
	s := serve(t, runner.Function{Name: "F", Handler: func() {}}, runner.Options{})
	s.SetConcurrency("F", 0)
	if _, err := s.InvokeEvent(&invocation.Request{FunctionName: "F"}); err != nil {
		t.Error(err) // and closing the service does not wait for it
	}
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
		_, err := s.InvokeEvent(c.in)
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
		_, err = s.InvokeEvent(&invocation.Request{FunctionName: "F"})
	}
	var api *aws.Error
	if !errors.As(err, &api) || api.Code != "TooManyRequestsException" || taken != 1001 {
		t.Errorf("%d, %v", taken, err)
	}
}
