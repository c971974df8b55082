package engine

import (
	"context"
	"errors"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/maprun"
	"stepback/engine/journal"
	"stepback/internal/ctxerr"
)

// abortOrphans ends child executions, and then their Map Runs, if no execution waits for them any more: the parent
// execution had ended, or had continued without the Map Run, and the process ended while the children were being
// stopped. If a parent execution could not be resumed and is left alone, so are its children.
func (c *recovery) abortOrphans(ctx context.Context) error {
	abandoned, err := c.abandonedMapRuns(ctx)
	if err != nil {
		return err
	}
	c.leaveOrphans(abandoned)
	for _, orphans := range c.waiting {
		for _, u := range orphans {
			if err := c.abort(ctx, u); err != nil {
				return err
			}
			c.found.Aborted++
		}
	}
	for _, m := range abandoned {
		if err := c.closeMapRun(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// abandonedMapRuns returns the Map Runs, by ARN, that are stored as running and that no execution resumes.
func (c *recovery) abandonedMapRuns(ctx context.Context) (map[string]*journal.MapRun, error) {
	abandoned := map[string]*journal.MapRun{}
	for m, err := range c.engine.cfg.Journal.MapRuns(ctx, c.engine.names.executions()) {
		if err != nil {
			return nil, err
		}
		if m.Status == history.Running && !c.engine.resumes(m.ARN) {
			abandoned[m.ARN] = m
		}
	}
	return abandoned, nil
}

// resumes reports whether a Map Run is about to resume, or was started by this engine during its recovery.
func (e *Engine) resumes(mapRun string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, adopted := e.adopted[mapRun]
	return adopted || e.recovering != nil && e.recovering.began[mapRun]
}

// leaveOrphans removes from abandoned the Map Runs below the executions that are left alone.
func (c *recovery) leaveOrphans(abandoned map[string]*journal.MapRun) {
	for _, l := range c.found.Left {
		c.leaveBelow(l.ARN, abandoned)
	}
}

// leaveBelow removes from abandoned the Map Runs of an execution, and those of its child executions.
func (c *recovery) leaveBelow(execution string, abandoned map[string]*journal.MapRun) {
	for arn, m := range abandoned {
		if m.Execution != execution {
			continue
		}
		orphans := c.waiting[arn]
		delete(c.waiting, arn)
		delete(abandoned, arn)
		for _, u := range orphans {
			c.leave(u, errors.New("its parent "+execution+" was left unchanged"))
			c.leaveBelow(u.ARN, abandoned)
		}
	}
}

// closeMapRun ends a Map Run whose child executions have all ended. It counts them anew, because the stored counts
// are from the start of the Map Run.
func (c *recovery) closeMapRun(ctx context.Context, m *journal.MapRun) (err error) {
	m.Status, m.Stopped = history.Aborted, c.engine.clock.Now()
	if m.Items, m.Executions, err = maprun.Tallies(ctx, c.engine.cfg.Journal, m); err != nil {
		return err
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
	end := history.Event{ID: int64(len(all)) + 1, Time: now.UnixNano(), Type: history.ExecutionAborted,
		More: &history.Details{}}
	all = append(all, end)
	x.Status, x.Stop, x.HistorySize = history.Aborted, now, int64(len(all))
	err := c.engine.commit(ctx, &journal.Record{
		Execution: &x, Step: int64(len(u.Steps)), End: true, All: all, History: all[len(all)-1:],
		Signals: []interpreter.Signal{{Kind: interpreter.Stop, At: now}},
	})
	if err == nil {
		c.engine.trackUnfinished(&x, u.Steps, all[len(all)-1:])
	}
	return err
}

// commit commits a record and waits until it is durable.
func (e *Engine) commit(ctx context.Context, r *journal.Record) error {
	done := make(chan error, 1)
	e.cfg.Journal.Commit(r, func(err error) { done <- err })
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctxerr.Of(ctx)
	}
}
