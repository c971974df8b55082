package retrymetrics_test

import (
	"testing"
	"time"

	"stepback/retrymetrics"
)

func TestAddEmbedded(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	labels := retrymetrics.Labels{StateMachine: "import", State: "Save"}
	line, err := retrymetrics.AppendEMF(nil, []retrymetrics.Point{
		{Metric: retrymetrics.CircuitBreakerState, Labels: labels, Start: at, Values: []float64{1}, Counts: []int64{1}},
		{Metric: retrymetrics.RowsApplied, Labels: labels, Start: at, Values: []float64{7}, Counts: []int64{1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var c retrymetrics.Collector
	if !c.AddEmbedded(line, retrymetrics.CircuitBreakerState) {
		t.Errorf("%s was not taken", line)
	}
	for _, other := range []string{
		"", "{}", "a line\n", `{"_aws":7}`, `{"_aws":{"CloudWatchMetrics":[]},"StateMachine":"m"}`,
		`{"_aws":{"Timestamp":1,"CloudWatchMetrics":[{"Namespace":"Mine","Metrics":[{"Name":"CircuitBreakerState"}]}]},"StateMachine":"m","CircuitBreakerState":1}`,
		`{"_aws":{"Timestamp":1,"CloudWatchMetrics":[{"Namespace":"` + retrymetrics.Namespace +
			`","Metrics":[{"Name":"CircuitBreakerState"}]}]},"StateMachine":"m","CircuitBreakerState":"high"}`,
	} {
		if c.AddEmbedded([]byte(other), retrymetrics.CircuitBreakerState) {
			t.Errorf("%s was taken", other)
		}
	}
	points := c.Points()
	if len(points) != 1 || points[0].Metric != retrymetrics.CircuitBreakerState || points[0].Labels != labels ||
		!points[0].Start.Equal(at) || points[0].Values[0] != 1 {
		t.Errorf("counted %+v", points)
	}
}
