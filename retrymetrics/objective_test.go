package retrymetrics_test

import (
	"fmt"
	"testing"
	"time"

	"stepback/engine/history"
	"stepback/retrymetrics"
)

// TestBatchesAreDecidedOnce: a batch counts as late when its time is over, while it still runs, and only once; a batch
// that fails counts as late at once. The log's reader counts the same.
func TestBatchesAreDecidedOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events []history.Event
		want   string
	}{
		"in time":         {batch(14*60, history.ExecutionSucceeded), "1 0"},
		"late":            {batch(16*60, history.ExecutionSucceeded), "0 1"},
		"failed":          {batch(60, history.ExecutionFailed), "0 1"},
		"late, running":   {batch(16*60, history.TaskScheduled), "0 1"},
		"running":         {batch(14*60, history.TaskScheduled), "0 0"},
		"late, then done": {append(batch(16*60, history.TaskScheduled), event(4, 3, 2000, history.ExecutionSucceeded)), "0 1"},
	} {
		var c1 retrymetrics.Collector
		c1.Add(childARN, c.events)
		var reader retrymetrics.LogReader
		var records []retrymetrics.Record
		for _, e := range c.events {
			records = append(records, retrymetrics.Record{Execution: childARN, ID: e.ID, Previous: e.Previous,
				Type: e.Type,
				Time: e.Time})
		}
		for from, points := range map[string][]retrymetrics.Point{"history": c1.Points(), "log": reader.Read(records)} {
			if got := decided(points); got != c.want {
				t.Errorf("%s, from the %s: %s, want %s", name, from, got, c.want)
			}
		}
	}
	var parents retrymetrics.Collector
	parents.Add(parent, batch(60, history.ExecutionSucceeded))
	if got := decided(parents.Points()); got != "0 0" {
		t.Errorf("an import is no batch: %s", got)
	}
	for _, label := range []string{"ImportFiles", "ValidateRanges"} {
		arn := "arn:aws:states:us-east-1:000000000000:execution:csv-import-files/" + label + ":0001"
		var c2 retrymetrics.Collector
		c2.Add(arn, batch(16*60, history.ExecutionSucceeded))
		if got := decided(c2.Points()); got != "0 0" {
			t.Errorf("a child of %s is no batch: %s", label, got)
		}
	}
}

func batch(seconds float64, last history.Type) []history.Event {
	return []history.Event{event(1, 0, 0, history.ExecutionStarted), event(2, 0, 0, history.TaskStateEntered),
		event(3, 2, seconds, last)}
}

func decided(points []retrymetrics.Point) string {
	sum := map[*retrymetrics.Metric]float64{}
	for _, p := range points {
		for i, v := range p.Values {
			sum[p.Metric] += v * float64(p.Counts[i])
		}
	}
	return fmt.Sprintf("%g %g", sum[retrymetrics.BatchesInTime], sum[retrymetrics.BatchesLate])
}

func TestObjective(t *testing.T) {
	t.Parallel()
	o := retrymetrics.DefaultObjective()
	if got := o.String(); got != "99.5 % of the batches finish within 15 minutes of their start, over 28 days" ||
		o.Budget() != 0.5 || o.Within != 15*time.Minute {
		t.Errorf("%s, budget %v", got, o.Budget())
	}
}
