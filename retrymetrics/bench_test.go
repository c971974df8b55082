package retrymetrics_test

import (
	"slices"
	"testing"

	"stepback/engine/history"
	"stepback/retrymetrics"
)

// BenchmarkAdd counts a history of some 500 events: 100 tasks side by side.
func BenchmarkAdd(b *testing.B) {
	for name, failing := range map[string]int{"no failure": 0, "each tenth row fails once": 10} {
		events := rows(100, failing)
		b.Run("counter, "+name, func(b *testing.B) {
			b.ReportAllocs()
			var c retrymetrics.Counter
			for b.Loop() {
				c.Add(events)
			}
		})
		b.Run("collector, "+name, func(b *testing.B) {
			b.ReportAllocs()
			var c retrymetrics.Collector
			for b.Loop() {
				c.Add(childARN, events)
			}
		})
	}
}

// rows returns a history of n tasks side by side, of which every each-th fails once; 0 means that none fails.
func rows(n, each int) []history.Event {
	events := []history.Event{event(1, 0, 0, history.ExecutionStarted)}
	last := make([]int64, n)
	add := func(row int, typ history.Type) {
		e := event(int64(len(events))+1, last[row], 1, typ)
		if typ == history.TaskFailed {
			e = failed(e.ID, e.Previous, 1, "CircuitOpen")
		}
		events, last[row] = append(events, e), e.ID
	}
	all := []history.Type{history.TaskStateEntered, history.TaskScheduled, history.TaskStarted}
	retried := []history.Type{history.TaskFailed, history.TaskScheduled, history.TaskStarted}
	for i, typ := range slices.Concat(all, retried, []history.Type{history.TaskSucceeded, history.TaskStateExited}) {
		for row := range n {
			ofRetry := i >= len(all) && i < len(all)+len(retried)
			if !ofRetry || each > 0 && row%each == 0 {
				add(row, typ)
			}
		}
	}
	return append(events, event(int64(len(events))+1, last[0], 2, history.ExecutionSucceeded))
}

// BenchmarkLive counts the events of an execution with one task that succeeds, in the three steps in which an engine
// makes them.
func BenchmarkLive(b *testing.B) {
	events := append(rows(1, 0), event(0, 0, 2, history.ExecutionSucceeded))[:7]
	b.ReportAllocs()
	var c retrymetrics.Collector
	for b.Loop() {
		l := retrymetrics.NewLive(childARN, &c)
		l.Count(events[:3])
		l.Count(events[3:4])
		l.Count(events[4:])
		l.Close()
	}
}
