package engine

import (
	"context"
	"maps"
	"slices"
	"time"

	"stepback/engine/journal"
)

// Counts are the counters of a Map Run, by items and by child executions.
type Counts struct {
	Items, Executions Tally
	// Started is when the Map Run began.
	Started time.Time
}

// Tally counts by status.
type Tally = journal.Tally

func (m *mapRun) count(change func(items, executions *Tally)) {
	m.mu.Lock()
	change(&m.about.Items, &m.about.Executions)
	m.mu.Unlock()
}

// Counts returns the Map Run's current counters.
func (m *mapRun) Counts() Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Counts{Items: m.about.Items, Executions: m.about.Executions, Started: m.about.Started}
}

// MapRuns returns the counters of all Map Runs under way, by ARN.
func (e *Engine) MapRuns() map[string]Counts {
	out := map[string]Counts{}
	for _, m := range e.mapRunsUnderWay() {
		out[m.call.ARN] = m.Counts()
	}
	return out
}

func (e *Engine) mapRunsUnderWay() []*mapRun {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Values(e.mapRuns))
}

// tallies counts the child executions of a Map Run that have ended, and their items, from the journal.
func (e *Engine) tallies(ctx context.Context, m *MapRun) (items, executions Tally, err error) {
	for x, err := range e.cfg.Journal.Executions(ctx, m.Children) {
		if err != nil {
			return items, executions, err
		}
		if x.MapRunARN == m.ARN && x.Ended() {
			items.End(x.Status, x.Items)
			executions.End(x.Status, 1)
		}
	}
	return items, executions, nil
}
