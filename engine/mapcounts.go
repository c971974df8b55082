package engine

import (
	"time"

	"stepback/engine/interpreter"
)

// Counts are the counters of a Map Run, by items and by child executions.
type Counts struct {
	Items, Executions Tally
	// Started is when the Map Run began.
	Started time.Time
}

// Tally counts by status.
type Tally struct {
	Pending, Running, Succeeded, Failed, TimedOut, Aborted int64
}

// Total is the number of everything counted.
func (t Tally) Total() int64 {
	return t.Pending + t.Running + t.Succeeded + t.Failed + t.TimedOut + t.Aborted
}

func (t *Tally) end(s interpreter.Status, n int64) {
	switch s {
	case interpreter.Succeeded:
		t.Succeeded += n
	case interpreter.Failed:
		t.Failed += n
	case interpreter.TimedOut:
		t.TimedOut += n
	default:
		t.Aborted += n
	}
}

func (m *mapRun) count(change func(*Counts)) {
	m.mu.Lock()
	change(&m.counts)
	m.mu.Unlock()
}

// Counts returns the Map Run's current counters.
func (m *mapRun) Counts() Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts
}

// MapRuns returns the counters of all Map Runs under way, by ARN.
func (e *Engine) MapRuns() map[string]Counts {
	e.mu.Lock()
	runs := make([]*mapRun, 0, len(e.mapRuns))
	for _, m := range e.mapRuns {
		runs = append(runs, m)
	}
	e.mu.Unlock()
	out := make(map[string]Counts, len(runs))
	for _, m := range runs {
		out[m.call.ARN] = m.Counts()
	}
	return out
}
