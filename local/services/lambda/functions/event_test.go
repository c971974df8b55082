package functions_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"stepback/engine/clock"
	"stepback/local/services/delivery"
	"stepback/local/services/lambda/functions"
	"stepback/tasks/lambda/invocation"
)

// builtIn creates a function F with the given handler.
func builtIn(t *testing.T, dir string, opts functions.Options, handler any) *functions.Service {
	t.Helper()
	opts.BuiltIn = map[string]functions.BuiltIn{"f": func(functions.Surroundings) (functions.Program, error) {
		return functions.Program{Handler: handler}, nil
	}}
	s := open(t, dir, opts)
	if err := s.PutLocal(t.Context(), home, &functions.LocalInput{Name: "F", BuiltIn: "f",
		Role: "arn:aws:iam::000000000000:role/r"}); err != nil {
		t.Fatal(err)
	}
	return s
}

// An asynchronous invocation survives closing the service while the function handles it.
func TestAsynchronousInvocationsSurvive(t *testing.T) {
	t.Parallel()
	dir, entered := t.TempDir(), make(chan struct{})
	s := builtIn(t, dir, functions.Options{}, func(ctx context.Context) {
		close(entered)
		<-ctx.Done()
	})
	a, err := s.Invoke(t.Context(), home, &invocation.Request{FunctionName: "F", Type: invocation.Event,
		Payload: []byte(`{"a":1}`)})
	if err != nil || a.StatusCode != http.StatusAccepted {
		t.Fatalf("%+v, %v", a, err)
	}
	<-entered
	closeService(t, s)
	got := make(chan map[string]int, 1)
	s = builtIn(t, dir, functions.Options{}, func(in map[string]int) { got <- in })
	s.Resume()
	if in := <-got; in["a"] != 1 {
		t.Errorf("the event is %v", in)
	}
}

// A record is sent again, with increasing delays, until its destination accepts it.
func TestRecordsAreSentAgain(t *testing.T) {
	t.Parallel()
	c := clock.Virtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	t.Cleanup(c.Close)
	var sent []string
	done := make(chan struct{})
	const queue = "arn:aws:sqs:us-east-1:000000000000:q"
	s := builtIn(t, t.TempDir(), functions.Options{Clock: c, Deliver: func(_ context.Context, to string,
		m *delivery.Message) error {
		sent = append(sent, to+" "+c.Now().Format(time.TimeOnly))
		if len(sent) < 3 {
			return errors.New("the disk is full")
		}
		if !strings.Contains(m.Body, `"approximateInvokeCount":3`) {
			t.Errorf("sent %s", m.Body)
		}
		close(done)
		return nil
	}}, func() error { return errors.New("no") })
	if _, err := s.PutEventInvokeConfig(t.Context(), home, "F", "", &functions.EventInvokeSettings{
		DestinationConfig: &functions.DestinationConfig{OnFailure: functions.Destination{Destination: queue}}},
		false); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Invoke(t.Context(), home, &invocation.Request{FunctionName: "F", Type: invocation.Event}); err != nil {
		t.Fatal(err)
	}
	<-done
	if got := strings.Join(sent, ", "); got != queue+" 00:03:00, "+queue+" 00:03:01, "+queue+" 00:03:03" {
		t.Errorf("sent to %s", got)
	}
}
