package engine

import (
	"context"
	"errors"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/journal"
)

// redrives reports whether a child execution ended without success before the Map Run was redriven the last time.
func (m *mapRun) redrives(x *journal.Execution) bool {
	return x.Ended() && x.Status != history.Succeeded && x.MapRunRedrive < m.call.Redrive
}

// redriveNext goes on with the next child execution that is to be redriven. An EXPRESS one begins again.
func (m *mapRun) redriveNext(ctx context.Context) error {
	arn := m.redrivable[0]
	m.redrivable = m.redrivable[1:]
	x, err := m.engine.cfg.Journal.Execution(ctx, arn)
	if err != nil {
		return err
	}
	m.count(func(items, executions *Tally) { items.PendingRedrive -= x.Items; executions.PendingRedrive-- })
	if x.Express {
		r := m.engine.runOf(m.child, x, m.parent.mocks)
		r.restart()
		return m.begin(r, r.start())
	}
	if err = m.engine.Redrivable(x); err == nil {
		var r *run
		if r, err = m.engine.reopen(ctx, x, m.child, m.parent.mocks); err == nil {
			return m.begin(r, interpreter.Signal{Kind: interpreter.Redrive})
		}
	}
	if ctx.Err() != nil || errors.Is(err, ErrClosed) {
		return err
	}
	m.engine.log.Warn("a child execution cannot be redriven", "execution", arn, "error", err)
	m.count(func(items, executions *Tally) { items.NotRedrivable += x.Items; executions.NotRedrivable++ })
	if x.Status == history.Aborted {
		m.lost += x.Items
	}
	return m.ended(x)
}

// restart makes the description of an execution that has ended that of one which is about to begin.
func (r *run) restart() {
	now := r.engine.clock.Now()
	r.record = journal.Execution{
		Info: r.record.Info, Status: history.Running, Start: now, RedriveCount: r.record.RedriveCount + 1, Redriven: now,
	}
}

// keepUnsuccessful counts the child executions that the Map Run failed too early to redrive as what they were.
func (m *mapRun) keepUnsuccessful(ctx context.Context) error {
	for _, arn := range m.redrivable {
		x, err := m.engine.cfg.Journal.Execution(ctx, arn)
		if err != nil {
			return err
		}
		m.count(func(items, executions *Tally) { items.PendingRedrive -= x.Items; executions.PendingRedrive-- })
		if err := m.ended(x); err != nil {
			return err
		}
	}
	m.redrivable = nil
	return nil
}

// takeBack makes the Map Run what it was before it was gone on with, when that has failed before it was known how far
// it had come. None of its child executions is under way.
func (m *mapRun) takeBack(ctx context.Context) error {
	if m.kept == nil {
		return nil // it had no child yet
	}
	items, executions, err := m.engine.tallies(ctx, m.kept)
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.about.Source = m.kept.Source
	m.about.Items, m.about.Executions = items, executions
	m.mu.Unlock()
	m.redrivable = nil
	return nil
}
