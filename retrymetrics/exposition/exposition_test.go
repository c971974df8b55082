package exposition_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"

	"stepback/engine/history"
	"stepback/retrymetrics"
	"stepback/retrymetrics/exposition"
)

const failedOnce = `[
	{"timestamp": 1000, "type": "ExecutionStarted", "id": 1},
	{"timestamp": 1000, "type": "TaskStateEntered", "id": 2, "previousEventId": 1, "stateEnteredEventDetails": {"name": "Charge"}},
	{"timestamp": 1000, "type": "TaskScheduled", "id": 3, "previousEventId": 2, "taskScheduledEventDetails": {"resourceType": "lambda", "resource": "invoke"}},
	{"timestamp": 1000, "type": "TaskStarted", "id": 4, "previousEventId": 3},
	{"timestamp": 1001, "type": "TaskFailed", "id": 5, "previousEventId": 4, "taskFailedEventDetails": {"error": "DatabaseConnectionError"}},
	{"timestamp": 1004, "type": "TaskScheduled", "id": 6, "previousEventId": 5, "taskScheduledEventDetails": {"resourceType": "lambda", "resource": "invoke"}},
	{"timestamp": 1004, "type": "TaskStarted", "id": 7, "previousEventId": 6},
	{"timestamp": 1005, "type": "TaskSucceeded", "id": 8, "previousEventId": 7, "taskSucceededEventDetails": {"output": "1"}},
	{"timestamp": 1005, "type": "TaskStateExited", "id": 9, "previousEventId": 8, "stateExitedEventDetails": {"name": "Charge", "output": "1"}},
	{"timestamp": 1005, "type": "ExecutionSucceeded", "id": 10, "previousEventId": 9, "executionSucceededEventDetails": {"output": "1"}}]`

// TestText compares the text that Prometheus reads, and checks that a look in between does not lose counts.
func TestText(t *testing.T) {
	t.Parallel()
	events, err := history.ParseEvents(failedOnce)
	if err != nil {
		t.Fatal(err)
	}
	var x exposition.Exposition
	registry := prometheus.NewRegistry()
	registry.MustRegister(&x)
	for range 2 {
		x.Counts().Add("arn:aws:states:us-east-1:0:execution:orders:a", events)
		if _, err := registry.Gather(); err != nil {
			t.Fatal(err)
		}
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&b, f); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{
		`stepback_task_attempts_total{state="Charge",state_machine="orders"} 4`,
		`stepback_retry_attempts_total{error="DatabaseConnectionError",state="Charge",state_machine="orders"} 2`,
		`stepback_retry_delay_seconds_bucket{state="Charge",state_machine="orders",le="2"} 0`,
		`stepback_retry_delay_seconds_bucket{state="Charge",state_machine="orders",le="5"} 2`,
		`stepback_retry_delay_seconds_sum{state="Charge",state_machine="orders"} 6`,
		`stepback_executions_succeeded_total{state_machine="orders"} 2`,
		`# TYPE stepback_attempts_per_task histogram`,
	} {
		if !strings.Contains(b.String(), want+"\n") {
			t.Errorf("lacks %s:\n%s", want, &b)
		}
	}
	if len(families) < 5 {
		t.Errorf("%d families", len(families))
	}
}

// TestLabelsOfAnyText has a name that needs escapes, and a metric whose rows have different labels.
func TestLabelsOfAnyText(t *testing.T) {
	t.Parallel()
	events, err := history.ParseEvents(strings.ReplaceAll(failedOnce, "Charge", `Say \"no\"`))
	if err != nil {
		t.Fatal(err)
	}
	var x exposition.Exposition
	x.Counts().Add("arn:aws:states:us-east-1:0:execution:orders:a", events)
	registry := prometheus.NewRegistry()
	registry.MustRegister(&x)
	err = testutil.GatherAndCompare(registry, strings.NewReader(`# HELP stepback_retry_attempts_total `+
		retrymetrics.RetryAttempts.Description()+`
# TYPE stepback_retry_attempts_total counter
stepback_retry_attempts_total{state="Say \"no\"",state_machine="orders"} 0
stepback_retry_attempts_total{error="DatabaseConnectionError",state="Say \"no\"",state_machine="orders"} 1
`), "stepback_retry_attempts_total")
	if err != nil {
		t.Error(err)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	if n := exposition.NameOf(retrymetrics.RetryDelay); n != "stepback_retry_delay_seconds" {
		t.Errorf("%s", n)
	}
}
