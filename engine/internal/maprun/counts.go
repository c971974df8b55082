package maprun

import (
	"context"
	"time"

	"stepback/engine/journal"
)

func (m *Run) count(change func(items, executions *journal.Tally)) {
	m.mu.Lock()
	change(&m.about.Items, &m.about.Executions)
	m.mu.Unlock()
}

// Counts returns the Map Run's current counters, by items and by child executions, and its start time.
func (m *Run) Counts() (items, executions journal.Tally, started time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.about.Items, m.about.Executions, m.about.Started
}

// Tallies counts, from the journal, the child executions of a Map Run that have ended, and their items.
func Tallies(ctx context.Context, j journal.Journal, m *journal.MapRun) (items, executions journal.Tally, err error) {
	for x, err := range j.Executions(ctx, m.Children) {
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
