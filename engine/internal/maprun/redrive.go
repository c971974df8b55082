package maprun

import (
	"context"

	"stepback/engine/history"
	"stepback/engine/journal"
)

// Redrives reports whether a child execution ended without success before the Map Run's latest redrive.
func (m *Run) Redrives(x *journal.Execution) bool {
	return x.Ended() && x.Status != history.Succeeded && x.MapRunRedrive < m.Call.Redrive
}

// redriveNext resumes the next child execution to be redriven. An EXPRESS one starts afresh.
func (m *Run) redriveNext(ctx context.Context) error {
	arn := m.redrivable[0]
	m.redrivable = m.redrivable[1:]
	x, err := m.Journal.Execution(ctx, arn)
	if err != nil {
		return err
	}
	m.count(func(items, executions *journal.Tally) { // before the child can begin
		items.PendingRedrive -= x.Items
		executions.PendingRedrive--
		items.Running += x.Items
		executions.Running++
	})
	c, err := m.Host.Reopen(ctx, x, m.onEnd)
	if err == nil {
		m.children[arn] = c
		return nil
	}
	m.countRunning(-1, -x.Items)
	if ctx.Err() != nil || m.Closing.Err() != nil {
		return err
	}
	m.Log.Warn("a child execution cannot be redriven", "execution", arn, "error", err)
	m.count(func(items, executions *journal.Tally) { items.NotRedrivable += x.Items; executions.NotRedrivable++ })
	if x.Status == history.Aborted {
		m.lost += x.Items
	}
	return m.ended(x)
}

// keepUnsuccessful counts the old results of the child executions that were still to be redriven, because the Map
// Run failed before it could redrive them.
func (m *Run) keepUnsuccessful(ctx context.Context) error {
	for _, arn := range m.redrivable {
		x, err := m.Journal.Execution(ctx, arn)
		if err != nil {
			return err
		}
		m.count(func(items, executions *journal.Tally) { items.PendingRedrive -= x.Items; executions.PendingRedrive-- })
		if err := m.ended(x); err != nil {
			return err
		}
	}
	m.redrivable = nil
	return nil
}

// restoreKept restores the stored state of a Map Run if resuming it failed before its progress was known. None of its
// child executions is running.
func (m *Run) restoreKept(ctx context.Context) error {
	if m.kept == nil {
		return nil // it had no children yet
	}
	items, executions, err := Tallies(ctx, m.Journal, m.kept)
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
