package engine

import (
	"context"
	"errors"
	"slices"

	"stepback/engine/history"
	"stepback/engine/interpreter"
	"stepback/engine/journal"
)

// abortOrphans ends the child executions of Map Runs that nobody waits for any more: the execution had ended, or had gone on
// without the Map Run, and the process ended while the children were being stopped. Those of an execution that is left alone are
// left alone too.
func (c *recovery) abortOrphans(ctx context.Context) error {
	for arn, orphans := range c.waiting {
		m, err := c.engine.cfg.Journal.MapRun(ctx, arn)
		if err != nil && !errors.Is(err, journal.ErrNotFound) {
			return err
		}
		if m != nil && slices.ContainsFunc(c.found.Left, func(l Unrecovered) bool { return l.ARN == m.Execution }) {
			for _, u := range orphans {
				c.leave(u, errors.New("its parent "+m.Execution+" is left as it was"))
			}
			continue
		}
		for _, u := range orphans {
			if err := c.abort(ctx, u); err != nil {
				return err
			}
			c.found.Aborted++
		}
		if m != nil && m.Status == interpreter.Running {
			if err := c.closeMapRun(ctx, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// closeMapRun ends a Map Run whose child executions have all ended, and counts them: what is kept of it is from its beginning.
func (c *recovery) closeMapRun(ctx context.Context, m *journal.MapRun) error {
	m.Status, m.Stopped = interpreter.Aborted, c.engine.clock.Now()
	m.Items, m.Executions = journal.Tally{}, journal.Tally{}
	for x, err := range c.engine.cfg.Journal.Executions(ctx, m.Children) {
		if err != nil {
			return err
		}
		if x.MapRunARN == m.ARN {
			m.Items.End(x.Status, x.Items)
			m.Executions.End(x.Status, 1)
		}
	}
	c.engine.cfg.Journal.PutMapRun(m, nil)
	return nil
}

// abort ends an execution without running it.
func (c *recovery) abort(ctx context.Context, u *journal.Unfinished) error {
	x, now := *u.Execution, c.engine.clock.Now()
	var all []history.Event
	for _, s := range u.Steps {
		all = append(all, s.History...)
	}
	if n := len(all); n > 0 && all[n-1].At().After(now) {
		now = all[n-1].At()
	}
	end := history.Event{ID: int64(len(all)) + 1, Time: now.UnixNano(), Type: history.ExecutionAborted, More: &history.Details{}}
	all = append(all, end)
	x.Status, x.Stop, x.HistorySize = interpreter.Aborted, now, int64(len(all))
	return c.engine.commit(ctx, &journal.Record{
		Execution: &x, Step: int64(len(u.Steps)), End: true, All: all, History: all[len(all)-1:],
		Events: []interpreter.Event{{Kind: interpreter.Stop, At: now}},
	})
}

// commit commits a record and waits until it is durable.
func (e *Engine) commit(ctx context.Context, r *journal.Record) error {
	done := make(chan error, 1)
	e.cfg.Journal.Commit(r, func(err error) { done <- err })
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
