package otlptraces_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"stepback/cmd/stepback/otlptraces"
	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/engine/journal"
)

const failedOnce = `[
	{"timestamp": 1000, "type": "ExecutionStarted", "id": 1, "executionStartedEventDetails": {"input": "\"secret\""}},
	{"timestamp": 1000, "type": "TaskStateEntered", "id": 2, "previousEventId": 1, "stateEnteredEventDetails": {"name": "Charge"}},
	{"timestamp": 1000, "type": "TaskScheduled", "id": 3, "previousEventId": 2},
	{"timestamp": 1000, "type": "TaskStarted", "id": 4, "previousEventId": 3},
	{"timestamp": 1001, "type": "TaskFailed", "id": 5, "previousEventId": 4, "taskFailedEventDetails": {"error": "Busy", "cause": "secret"}},
	{"timestamp": 1004, "type": "TaskScheduled", "id": 6, "previousEventId": 5},
	{"timestamp": 1004, "type": "TaskStarted", "id": 7, "previousEventId": 6},
	{"timestamp": 1005, "type": "TaskSucceeded", "id": 8, "previousEventId": 7},
	{"timestamp": 1005, "type": "TaskStateExited", "id": 9, "previousEventId": 8, "stateExitedEventDetails": {"name": "Charge"}},
	{"timestamp": 1005, "type": "ExecutionSucceeded", "id": 10, "previousEventId": 9}]`

// sent holds the parts of a request that a collector reads.
type sent struct {
	ResourceSpans []struct {
		ScopeSpans []struct {
			Spans []struct {
				TraceID, SpanID, ParentSpanID, Name string
				StartTimeUnixNano, EndTimeUnixNano  string
				Status                              struct {
					Code    int
					Message string
				}
				Events []struct{ Name, TimeUnixNano string }
			}
		}
	}
}

func execution(t *testing.T) (*journal.Execution, []history.Event) {
	t.Helper()
	events, err := history.ParseEvents(failedOnce)
	if err != nil {
		t.Fatal(err)
	}
	x := &journal.Execution{Status: history.Succeeded, Start: time.Unix(1000, 0), Stop: time.Unix(1005, 0)}
	x.ARN, x.MachineARN, x.Name = "arn:x:order-17", "arn:aws:states:us-east-1:0:stateMachine:orders", "order-17"
	return x, events
}

// bodyOf returns the request that a collector gets for an execution.
func bodyOf(t *testing.T, x *journal.Execution, events []history.Event) string {
	t.Helper()
	bodies := make(chan string, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- r.URL.Path + " " + r.Header.Get("Content-Type") + " " + string(body)
	}))
	defer collector.Close()
	e := otlptraces.New(collector.URL, slog.New(slog.DiscardHandler))
	e.Observe(x, events)
	e.Close(t.Context())
	if e.Dropped() != 0 {
		t.Fatalf("%d dropped", e.Dropped())
	}
	body, ok := strings.CutPrefix(<-bodies, "/v1/traces application/json ")
	if !ok {
		t.Fatal(body)
	}
	return body
}

// TestATrace has a span for the execution, one for the state, and one for each attempt; the wait is an event.
func TestATrace(t *testing.T) {
	t.Parallel()
	x, events := execution(t)
	body := bodyOf(t, x, events)
	var got sent
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	spans := got.ResourceSpans[0].ScopeSpans[0].Spans
	if len(spans) != 4 {
		t.Fatalf("%d spans: %s", len(spans), body)
	}
	root, state, first, second := spans[0], spans[1], spans[2], spans[3]
	if root.Name != "orders" || len(root.TraceID) != 32 || len(root.SpanID) != 16 || root.ParentSpanID != "" ||
		state.ParentSpanID != root.SpanID || first.ParentSpanID != state.SpanID || second.ParentSpanID != state.SpanID {
		t.Errorf("%s", body)
	}
	if first.Name != "Charge attempt 1" || first.Status.Code != 2 || first.Status.Message != "Busy" ||
		second.Status.Code != 1 || second.StartTimeUnixNano != "1004000000000" || second.EndTimeUnixNano != "1005000000000" {
		t.Errorf("%+v %+v", first, second)
	}
	if len(state.Events) != 1 || state.Events[0].Name != "retry wait" || state.Events[0].TimeUnixNano != "1001000000000" {
		t.Errorf("%+v", state.Events)
	}
	for _, want := range []string{
		`"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"orders"}}]}`, `"scope":{"name":"stepback"}`,
		`{"key":"aws.stepfunctions.execution.arn","value":{"stringValue":"arn:x:order-17"}}`,
		`{"key":"stepback.execution.name","value":{"stringValue":"order-17"}}`,
		`{"key":"stepback.execution.status","value":{"stringValue":"SUCCEEDED"}}`,
		`{"key":"retry.attempts","value":{"intValue":"2"}}`, `{"key":"retry.end","value":{"stringValue":"succeeded"}}`,
		`{"key":"retry.attempt","value":{"intValue":"2"}}`, `{"key":"retry.reason","value":{"stringValue":"Busy"}}`,
		`{"key":"retry.delay","value":{"doubleValue":3}}`,
		`"links":[{"traceId":"` + root.TraceID + `","spanId":"` + first.SpanID + `","attributes":[{"key":"retry.link","value":{"stringValue":"previous_attempt"}}]`,
		`{"key":"error.type","value":{"stringValue":"Busy"}}`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("lacks %s: %s", want, body)
		}
	}
	if strings.Contains(body, "secret") {
		t.Errorf("an input or a cause is in %s", body)
	}
	if again := bodyOf(t, x, events); again != body {
		t.Error("the same execution has another trace")
	}
}

// TestARefusedTrace counts what a collector does not take.
func TestARefusedTrace(t *testing.T) {
	t.Parallel()
	x, events := execution(t)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no", http.StatusServiceUnavailable)
	}))
	defer collector.Close()
	e := otlptraces.New(collector.URL+"/", slog.New(slog.DiscardHandler))
	e.Observe(x, events)
	e.Close(t.Context())
	if e.Dropped() != 1 {
		t.Errorf("%d dropped", e.Dropped())
	}
}

// kept holds the executions and Map Runs of a test.
type kept struct {
	executions map[string]*journal.Execution
	mapRuns    map[string]*journal.MapRun
}

func (k kept) Execution(_ context.Context, arn string) (*journal.Execution, error) {
	if x := k.executions[arn]; x != nil {
		return x, nil
	}
	return nil, journal.ErrNotFound
}

func (k kept) MapRun(_ context.Context, arn string) (*journal.MapRun, error) {
	if m := k.mapRuns[arn]; m != nil {
		return m, nil
	}
	return nil, journal.ErrNotFound
}

const mapped = `[
	{"timestamp": 1000, "type": "ExecutionStarted", "id": 1},
	{"timestamp": 1000, "type": "MapStateEntered", "id": 2, "previousEventId": 1, "stateEnteredEventDetails": {"name": "Each"}},
	{"timestamp": 1000, "type": "MapStateStarted", "id": 3, "previousEventId": 2},
	{"timestamp": 1000, "type": "MapRunStarted", "id": 4, "previousEventId": 3, "mapRunStartedEventDetails": {"mapRunArn": "arn:x:mapRun:m/L:1"}},
	{"timestamp": 1002, "type": "MapRunSucceeded", "id": 5, "previousEventId": 4},
	{"timestamp": 1002, "type": "MapStateSucceeded", "id": 6, "previousEventId": 5},
	{"timestamp": 1002, "type": "MapStateExited", "id": 7, "previousEventId": 6, "stateExitedEventDetails": {"name": "Each"}},
	{"timestamp": 1003, "type": "ExecutionSucceeded", "id": 8, "previousEventId": 7}]`

// A child of a Map Run, and an execution started by that child, belong to the trace of the Map Run's execution; the
// child's span is below the Map Run's.
func TestChildrenAreInTheirParentsTrace(t *testing.T) {
	t.Parallel()
	executionOf := func(arn, mapRun, input string) *journal.Execution {
		x := &journal.Execution{Status: history.Succeeded, Start: time.Unix(1000, 0), Stop: time.Unix(1003, 0)}
		x.ARN, x.MapRunARN, x.Input, x.MachineARN = arn, mapRun, input, "arn:x:stateMachine:m"
		return x
	}
	parent := executionOf("arn:x:execution:m:p", "", "{}")
	child := executionOf("arn:x:execution:m/L:c", "arn:x:mapRun:m/L:1", "{}")
	started := executionOf("arn:x:execution:n:s", "", `{"AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID":"arn:x:execution:m/L:c"}`)
	stranger := executionOf("arn:x:execution:m/L:d", "arn:x:mapRun:m/L:gone", "{}")
	requests := make(chan sent, 4)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var got sent
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		requests <- got
	}))
	defer collector.Close()
	e := otlptraces.New(collector.URL, slog.New(slog.DiscardHandler))
	e.Look(kept{map[string]*journal.Execution{parent.ARN: parent, child.ARN: child},
		map[string]*journal.MapRun{child.MapRunARN: {ARN: child.MapRunARN, Execution: parent.ARN}}})
	events, err := history.ParseEvents(mapped)
	if err != nil {
		t.Fatal(err)
	}
	e.Observe(child, nil)
	e.Observe(started, nil)
	e.Observe(stranger, nil)
	e.Observe(parent, events)
	e.Close(t.Context())
	root := func(s sent) (trace, id, parent string) {
		one := s.ResourceSpans[0].ScopeSpans[0].Spans[0]
		return strings.ToLower(one.TraceID), one.SpanID, one.ParentSpanID // digits in hexadecimal, of any case
	}
	childSent, startedSent, strangerSent, parentSent := <-requests, <-requests, <-requests, <-requests
	trace, _, above := root(parentSent)
	if trace != otlptraces.TraceID(parent.ARN).String() || above != "" {
		t.Errorf("the parent is in %s below %q", trace, above)
	}
	var run, state struct{ id, parent, name string }
	for _, s := range parentSent.ResourceSpans[0].ScopeSpans[0].Spans {
		switch s.Name {
		case "Map Run":
			run.id, run.parent = s.SpanID, s.ParentSpanID
			if s.StartTimeUnixNano != "1000000000000" || s.EndTimeUnixNano != "1002000000000" || s.Status.Code != 1 {
				t.Errorf("the Map Run is %+v", s)
			}
		case "Each":
			state.id = s.SpanID
		}
	}
	if run.id == "" || run.parent != state.id {
		t.Errorf("the Map Run's span %+v is not below that of its state %+v", run, state)
	}
	inTrace, childID, below := root(childSent)
	if inTrace != trace || below != run.id {
		t.Errorf("the child is in %s below %s, want %s below %s", inTrace, below, trace, run.id)
	}
	if inTrace, _, below = root(startedSent); inTrace != trace || below != childID {
		t.Errorf("what the child has started is in %s below %s, want %s below %s", inTrace, below, trace, childID)
	}
	if inTrace, _, below = root(strangerSent); inTrace != otlptraces.TraceID(stranger.ARN).String() || below != "" {
		t.Errorf("a child of an unknown Map Run is in %s below %s", inTrace, below)
	}
}

// TestATraceOfADurableFunction has a span for each operation and for each attempt of a step.
func TestATraceOfADurableFunction(t *testing.T) {
	t.Parallel()
	const child = "arn:aws:lambda:us-east-1:0:function:ship:1/durable-execution/c/d"
	var texts []json.RawMessage
	if err := json.Unmarshal([]byte(`[
		{"EventType":"ExecutionStarted","EventId":1,"EventTimestamp":1000,"Id":"x","ExecutionStartedDetails":{"Input":{"Payload":"\"secret\""},"ExecutionTimeout":60}},
		{"EventType":"ContextStarted","EventId":2,"EventTimestamp":1000,"Id":"c","Name":"all","ContextStartedDetails":{}},
		{"EventType":"StepStarted","EventId":3,"EventTimestamp":1000,"Id":"s","ParentId":"c","Name":"charge","StepStartedDetails":{}},
		{"EventType":"StepFailed","EventId":4,"EventTimestamp":1001,"Id":"s","ParentId":"c","Name":"charge","StepFailedDetails":{"Error":{"Payload":{"ErrorType":"Busy","ErrorMessage":"secret"}},"RetryDetails":{"CurrentAttempt":1,"NextAttemptDelaySeconds":3}}},
		{"EventType":"InvocationCompleted","EventId":5,"EventTimestamp":1001,"InvocationCompletedDetails":{"StartTimestamp":1000,"EndTimestamp":1001,"RequestId":"r","Error":{}}},
		{"EventType":"StepStarted","EventId":6,"EventTimestamp":1004,"Id":"s","ParentId":"c","Name":"charge","StepStartedDetails":{}},
		{"EventType":"StepSucceeded","EventId":7,"EventTimestamp":1005,"Id":"s","ParentId":"c","Name":"charge","StepSucceededDetails":{"Result":{"Payload":"\"secret\""},"RetryDetails":{"CurrentAttempt":2}}},
		{"EventType":"ChainedInvokeStarted","EventId":8,"EventTimestamp":1005,"Id":"i","Name":"ship","ChainedInvokeStartedDetails":{"FunctionName":"ship:1","Input":{},"DurableExecutionArn":"`+child+`"}},
		{"EventType":"ExecutionStopped","EventId":9,"EventTimestamp":1006,"Id":"x","ExecutionStoppedDetails":{"Error":{}}}]`), &texts); err != nil {
		t.Fatal(err)
	}
	events, err := durable.ParseEvents(texts)
	if err != nil {
		t.Fatal(err)
	}
	x := &journal.Execution{Status: history.Aborted, Start: time.Unix(1000, 0), Stop: time.Unix(1006, 0)}
	x.ARN, x.MachineARN, x.VersionARN, x.Name = "arn:x:pay", "arn:aws:lambda:us-east-1:0:function:pay", "arn:aws:lambda:us-east-1:0:function:pay:1", "order-17"
	body := bodyOf(t, x, events)
	var got sent
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	spans := got.ResourceSpans[0].ScopeSpans[0].Spans
	var names []string
	for _, s := range spans {
		names = append(names, s.Name)
	}
	if all := strings.Join(names, ", "); all != "pay, all, charge, charge attempt 1, charge attempt 2, ship" {
		t.Fatal(all)
	}
	if spans[2].ParentSpanID != spans[1].SpanID || spans[3].ParentSpanID != spans[2].SpanID ||
		spans[3].Status.Message != "Busy" ||
		spans[4].EndTimeUnixNano != "1005000000000" || spans[5].EndTimeUnixNano != "1006000000000" {
		t.Errorf("%s", body)
	}
	for _, want := range []string{
		`{"key":"stepback.execution.status","value":{"stringValue":"STOPPED"}}`, `{"key":"stepback.durable_execution.arn","value":{"stringValue":"arn:x:pay"}}`, `{"key":"stepback.operation.type","value":{"stringValue":"STEP"}}`,
		`{"key":"retry.attempts","value":{"intValue":"2"}}`, `{"key":"retry.delay","value":{"doubleValue":3}}`,
		`"links":[{"traceId":"` + spans[0].TraceID + `","spanId":"` + spans[3].SpanID + `"`,
		`"links":[{"traceId":"` + strings.ToUpper(otlptraces.TraceID(child).String()) + `"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("lacks %s: %s", want, body)
		}
	}
	if strings.Contains(body, "secret") {
		t.Errorf("an input or a cause is in %s", body)
	}
}
