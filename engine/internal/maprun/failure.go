package maprun

import (
	"context"
	"errors"
	"fmt"
	"io"

	"stepback/engine/history"
	"stepback/engine/internal/plan"
	"stepback/engine/journal"
)

// judge fails the Map Run if more items have failed than are tolerated. The percentage refers to all items, so it is
// only checked once their number is known.
func (m *Run) judge(known bool) {
	if m.failure != nil {
		return
	}
	c, _, _ := m.Counts()
	failed := c.Failed + c.TimedOut + m.lost
	if failed == 0 {
		return
	}
	l := m.limits()
	total := c.Total()
	over := (l.CountGiven || !l.PercentageGiven) && failed > l.ToleratedFailureCount
	if l.PercentageGiven && known {
		over = over || float64(failed)*100 > l.ToleratedFailurePercentage*float64(total)
	}
	if over {
		m.fail(&history.Failure{Name: plan.ErrExceedToleratedFailure,
			Cause: "The specified tolerated failure threshold was exceeded"})
	}
}

// fail makes the Map Run fail: no more children are started, and running ones are stopped. The journal records the
// failure before any of these stops.
func (m *Run) fail(err error) {
	if m.failure != nil {
		return
	}
	f := mapRunFailure(err)
	m.failure = &f
	if m.Closing.Err() == nil { // otherwise it fails because of that, in this process only
		m.mu.Lock()
		m.about.Failure = f
		m.keep(nil)
		m.mu.Unlock()
	}
	for _, c := range m.children {
		c.Stop()
	}
}

// writePending adds the items that were never started to the results.
func (m *Run) writePending(ctx context.Context) error {
	if m.drained {
		return nil
	}
	for {
		b, err := m.source.next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the rest of the items: %w", err)
		}
		m.count(func(items, executions *journal.Tally) { items.Pending += b.items; executions.Pending++ })
		name, _ := m.names.of(b.first)
		if err := m.sink.pending(m.Machine, name, b); err != nil {
			return err
		}
	}
}
