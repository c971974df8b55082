package engine

import (
	"context"
	"errors"
	"fmt"
	"io"

	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/plan"
)

// judge fails the Map Run when more items have failed than are tolerated. The percentage is of all items, so it can
// only be judged once their number is known.
func (m *mapRun) judge(known bool) {
	if m.failure != nil {
		return
	}
	c := m.Counts().Items
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
		m.fail(&Failure{Name: plan.ErrExceedToleratedFailure,
			Cause: "The specified tolerated failure threshold was exceeded"})
	}
}

// fail makes the Map Run fail: no child is started any more, and those under way are stopped. The journal has that it
// fails before it has that any of them was stopped.
func (m *mapRun) fail(err error) {
	if m.failure != nil {
		return
	}
	f := mapRunFailure(err)
	m.failure = &f
	if m.engine.ctx.Err() == nil { // else it fails for that, in this process only
		m.mu.Lock()
		m.about.Failure = f
		m.keep(nil)
		m.mu.Unlock()
	}
	for _, c := range m.children {
		c.deliver(interpreter.Signal{Kind: interpreter.Stop})
	}
}

// writePending lists the items that were never started in the results.
func (m *mapRun) writePending(ctx context.Context) error {
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
		m.count(func(items, executions *Tally) { items.Pending += b.items; executions.Pending++ })
		name, _ := m.names.of(b.first)
		if err := m.sink.pending(m.child, name, b); err != nil {
			return err
		}
	}
}
