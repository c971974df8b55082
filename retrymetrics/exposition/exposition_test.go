package exposition_test

import (
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

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

// TestPrometheusReadsIt parses the output with Prometheus's own parser, and checks that counters continue over two
// scrapes.
func TestPrometheusReadsIt(t *testing.T) {
	t.Parallel()
	events, err := history.ParseEvents(failedOnce)
	if err != nil {
		t.Fatal(err)
	}
	var x exposition.Exposition
	for range 2 {
		x.Observe("arn:aws:states:us-east-1:0:execution:orders:a", events)
		if err := x.Write(&strings.Builder{}); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	if err := x.Write(&b); err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(b.String()))
	if err != nil {
		t.Fatalf("%v\n%s", err, &b)
	}
	for _, want := range []string{
		`stepback_task_attempts_total{state_machine="orders",state="Charge"} 4`,
		`stepback_retry_attempts_total{state_machine="orders",state="Charge",error="DatabaseConnectionError"} 2`,
		`stepback_retry_delay_seconds_bucket{state_machine="orders",state="Charge",le="2"} 0`,
		`stepback_retry_delay_seconds_bucket{state_machine="orders",state="Charge",le="5"} 2`,
		`stepback_retry_delay_seconds_sum{state_machine="orders",state="Charge"} 6`,
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

func TestNames(t *testing.T) {
	t.Parallel()
	if n := exposition.NameOf(retrymetrics.RetryDelay); n != "stepback_retry_delay_seconds" {
		t.Errorf("%s", n)
	}
}
