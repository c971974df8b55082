package executions_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"stepback/cmd/stepback/executions"
)

const machine = "arn:aws:states:us-east-1:000000000000:stateMachine:orders"

// api simulates a Step Functions API with some running executions, every third of which waits for a retry. It counts
// the calls of each operation.
type api struct {
	executions int
	calls      map[string]int
}

func (a *api) Call(_ context.Context, operation string, in, out any) error {
	a.calls[operation]++
	var answer any
	switch operation {
	case "ListExecutions":
		var list []map[string]any
		for i := range a.executions {
			list = append(list, map[string]any{"executionArn": fmt.Sprint("x-", i), "name": fmt.Sprint("x-", i),
				"stateMachineArn": machine, "status": "RUNNING", "startDate": 1000 - i})
		}
		answer = map[string]any{"executions": list}
	case "GetExecutionHistory":
		events := []map[string]any{
			{"id": 1, "timestamp": 1000, "type": "ExecutionStarted", "executionStartedEventDetails": map[string]any{"input": "{}"}},
			{"id": 2, "previousEventId": 1, "timestamp": 1000, "type": "TaskStateEntered",
				"stateEnteredEventDetails": map[string]any{"name": "Charge"}},
			{"id": 3, "previousEventId": 2, "timestamp": 1000, "type": "TaskScheduled"},
			{"id": 4, "previousEventId": 3, "timestamp": 1000, "type": "TaskStarted"},
			{"id": 5, "previousEventId": 4, "timestamp": 1001, "type": "TaskFailed",
				"taskFailedEventDetails": map[string]any{"error": "Busy", "cause": "c"}},
		}
		var n int
		_, _ = fmt.Sscanf(in.(map[string]any)["executionArn"].(string), "x-%d", &n)
		if n%3 != 0 {
			events = events[:4]
		}
		answer = map[string]any{"events": events}
	case "DescribeStateMachineForExecution":
		answer = map[string]any{"definition": `{"StartAt":"Charge","States":{"Charge":{"Type":"Task","Resource":"r","End":true,
			"Retry":[{"ErrorEquals":["States.ALL"]}]}}}`}
	default:
		return errors.New("unexpected " + operation)
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, out)
}

func retrying(t *testing.T, c *executions.Client, limit int) ([]string, error) {
	t.Helper()
	var names []string
	err := c.List(t.Context(), executions.Filter{Machine: machine, Retrying: true, Limit: limit},
		func(x *executions.Execution) error {
			if x.Retrying == "" {
				t.Errorf("%s does not say what it waits for", x.Name)
			}
			names = append(names, x.Name)
			return nil
		})
	return names, err
}

// TestLooksAreBounded lists from an endpoint without an index and expects only a limited number of executions to be
// inspected, and an error that says so.
func TestLooksAreBounded(t *testing.T) {
	t.Parallel()
	a := &api{executions: 10, calls: map[string]int{}}
	got, err := retrying(t, &executions.Client{States: a}, 0)
	if err != nil || !slices.Equal(got, []string{"x-0", "x-3", "x-6", "x-9"}) || a.calls["GetExecutionHistory"] != 10 {
		t.Errorf("%v %v, %v", got, err, a.calls)
	}
	a = &api{executions: 10, calls: map[string]int{}}
	got, err = retrying(t, &executions.Client{States: a, Looks: 5}, 0)
	bounded, ok := errors.AsType[*executions.BoundedError](err)
	if !ok || bounded.Looked != 5 || !slices.Equal(got, []string{"x-0", "x-3"}) || a.calls["GetExecutionHistory"] != 5 {
		t.Errorf("%v %v, %v", got, err, a.calls)
	}
	if got, err = retrying(t, &executions.Client{States: a, Looks: 5}, 1); err != nil || !slices.Equal(got, []string{"x-0"}) {
		t.Errorf("%v %v", got, err)
	}
}

// TestTheIndexOfAServer lists page by page from the index of an endpoint that has one, and inspects executions if
// there is none.
func TestTheIndexOfAServer(t *testing.T) {
	t.Parallel()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		asked = append(asked, fmt.Sprint(r.URL.Path, " ", q.Get("of"), " ", q.Get("retrying"), " ", q.Get("after")))
		w.Header().Set("Content-Type", "application/json")
		retries := fmt.Sprintf(`[{"state":"Charge","error":"Busy","attempt":2,"attempts":4,"next":%q}]`,
			time.Now().Add(time.Hour).Format(time.RFC3339))
		if q.Get("after") == "" {
			fmt.Fprintf(w, `{"executions":[{"executionArn":"a","name":"n-1","status":"RUNNING","startDate":"2026-11-22T10:00:00Z",
				"retries":%s}],"nextToken":"t"}`, retries)
			return
		}
		fmt.Fprintf(w, `{"executions":[{"executionArn":"b","name":"n-2","status":"RUNNING","startDate":"2026-11-22T09:00:00Z",
			"retries":%s}]}`, retries)
	}))
	defer server.Close()
	a := &api{executions: 10, calls: map[string]int{}}
	got, err := retrying(t, &executions.Client{States: a, Index: &executions.Index{Endpoint: server.URL + "/"}}, 0)
	if err != nil || !slices.Equal(got, []string{"n-1", "n-2"}) || len(a.calls) != 0 {
		t.Errorf("%v %v, %v", got, err, a.calls)
	}
	path := "/_stepback/executions " + machine + " true "
	if !slices.Equal(asked, []string{path, path + "t"}) {
		t.Errorf("%q", asked)
	}
	for _, other := range []http.HandlerFunc{http.NotFound, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<html>"))
	}} {
		elsewhere := httptest.NewServer(other)
		a = &api{executions: 4, calls: map[string]int{}}
		got, err = retrying(t, &executions.Client{States: a, Index: &executions.Index{Endpoint: elsewhere.URL}}, 0)
		if err != nil || !slices.Equal(got, []string{"x-0", "x-3"}) {
			t.Errorf("%v %v", got, err)
		}
		elsewhere.Close()
	}
}
