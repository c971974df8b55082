package simulation

import (
	"slices"

	"stepback/engine/internal/interpreter"
)

// crash discards the execution, restores it by replay, and requests outstanding effects again: tasks that have not
// reported are called a second time, and timers are set again.
func (c *core) crash() error {
	x, err := replay(c.plan, c.info, c.events, c.done)
	if err != nil {
		return err
	}
	c.x = x
	c.ledger = ledger{}
	for i := range c.events {
		if err := c.ledger.take(&c.events[i], &c.done[i], c.status[i]); err != nil {
			return err
		}
	}
	outstanding := x.Outstanding()
	if err := c.ledger.agrees(outstanding); err != nil {
		return err
	}
	for i := range outstanding {
		c.reissue(&outstanding[i])
	}
	return nil
}

// reissue invokes a task again unless it has ended or has already reported.
func (c *core) reissue(f *interpreter.Effect) {
	if f.Kind != interpreter.InvokeTask || c.ledger.open[f.ID] != interpreter.InvokeTask {
		return
	}
	if slices.ContainsFunc(c.events, func(e interpreter.Signal) bool {
		return e.ID == f.ID &&
			e.Kind != interpreter.Continue
	}) {
		return
	}
	c.pending = slices.DeleteFunc(c.pending, func(h happening) bool {
		return h.event.ID == f.ID &&
			h.event.Kind != interpreter.Continue
	})
	c.carryOut(f)
}
