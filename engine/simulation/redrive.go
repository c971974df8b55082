package simulation

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/simulation/machine"
)

// redrive redrives the execution a few times if it ended without success. The oracle has judged it up to its first
// end; the rest is checked by its form and by replay.
func (c *core) redrive() error {
	for c.x.Status() != history.Succeeded && len(c.history) < longest && c.now.Sub(machine.Epoch) < year/2 &&
		c.one(2) {
		c.now = c.now.Add(c.seconds(10) + time.Second)
		c.stale = slices.DeleteFunc(c.stale,
			func(e interpreter.Signal) bool { return e.ID < 0 }) // the limit of its duration, which is set again
		if err := c.run(interpreter.Redrive); err != nil {
			return fmt.Errorf("redriven: %w", err)
		}
		if _, _, err := firstEnd(c.history, c.x.Status()); err != nil {
			return fmt.Errorf("redriven: %w", err)
		}
		if _, err := replay(c.plan, c.info, c.events, c.done); err != nil {
			return fmt.Errorf("redriven: %w", err)
		}
	}
	return nil
}

// statuses maps terminal events to the status of the execution.
var statuses = map[history.Type]history.Status{
	history.ExecutionSucceeded: history.Succeeded, history.ExecutionFailed: history.Failed,
	history.ExecutionAborted: history.Aborted, history.ExecutionTimedOut: history.TimedOut,
}

// firstEnd returns the history up to the execution's first end, and the execution's status at that end. It returns
// an error if the form of the rest is wrong: IDs and times must be in order, redrives must be counted and follow an
// end without success, and nothing else may follow an end.
func firstEnd(h []history.Event, status history.Status) ([]history.Event, history.Status, error) {
	first, then := h, status
	redrives := int64(0)
	for i := 1; i < len(h); i++ {
		e, before := &h[i], &h[i-1]
		end, over := statuses[before.Type]
		if over != (e.Type == history.ExecutionRedriven) || end == history.Succeeded {
			return nil, "", fmt.Errorf("event %d is %s, after %s", e.ID, e.Type, before.Type)
		}
		if e.ID != before.ID+1 || e.Previous >= e.ID || e.Time < before.Time {
			return nil, "", fmt.Errorf("event %d is out of order", e.ID)
		}
		if !over {
			continue
		}
		if redrives++; redrives == 1 {
			first, then = h[:i], end
		}
		if e.More == nil || e.More.RedriveCount != redrives || e.Previous != before.ID {
			return nil, "", fmt.Errorf("event %d is not redrive %d", e.ID, redrives)
		}
	}
	if redrives > 0 && statuses[h[len(h)-1].Type] != status {
		return nil, "", errors.New("the history does not end with the status " + string(status))
	}
	return first, then, nil
}
