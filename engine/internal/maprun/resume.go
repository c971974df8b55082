package maprun

import (
	"context"
	"errors"
	"fmt"

	"stepback/engine/history"
	"stepback/engine/internal/plan"
	"stepback/engine/itemreader"
	"stepback/engine/journal"
)

// version identifies the content of the items, as far as possible.
func (m *Run) version(ctx context.Context) (string, error) {
	r := m.Call.State.Map.Reader
	store, ok := m.Objects.(itemreader.Versions)
	if r == nil || !ok {
		return "", nil
	}
	c := m.readerConfig(r)
	if c.Key == "" || c.Bucket == "" {
		return "", nil
	}
	v, err := store.Version(ctx, c.Bucket, c.Key, c.VersionID, c.ExpectedBucketOwner)
	if err != nil && ctx.Err() == nil {
		err = &history.Failure{Name: plan.ErrItemReaderFailed, Cause: err.Error()}
	}
	return v, err
}

// takeOver adopts the child executions that had not ended when the previous process died. They do not continue
// until the Map Run knows its progress.
func (m *Run) takeOver() {
	for _, c := range m.adopted {
		info := c.Info()
		m.countRunning(1, info.Items)
		c.Follow(m.onEnd)
		m.children[info.ARN] = c
	}
}

// restore loads the stored description of a Map Run that is resumed. It is called before the Map Run can be queried
// or changed, so that later changes apply to this description.
func (m *Run) restore(ctx context.Context) {
	kept, err := m.Journal.MapRun(ctx, m.Call.ARN)
	if err != nil {
		if !errors.Is(err, journal.ErrNotFound) { // otherwise it had no children yet
			m.unread = err
		}
		return
	}
	m.kept = kept
	m.about.Started, m.about.MapRunLimits, m.about.Source = kept.Started, kept.MapRunLimits, kept.Source
	if kept.RedriveCount == m.about.RedriveCount {
		m.about.Redriven, m.about.Failure = kept.Redriven, kept.Failure
	}
}

// resume determines the state of the items if the Map Run is resumed: children that have ended are counted and their
// results written again, and the items of all children are not read again. version is the version of the items.
func (m *Run) resume(ctx context.Context, version string) error {
	if m.kept != nil {
		if err := m.recount(ctx, version); err != nil {
			return err
		}
	}
	m.mu.Lock()
	m.about.Source = version
	failing := m.about.Failure
	m.keep(nil)
	m.mu.Unlock()
	for _, c := range m.adopted {
		c.GoOn()
	}
	m.adopted = nil
	if !failing.IsZero() {
		m.fail(&history.Failure{Name: failing.Name, Cause: failing.Cause})
	}
	m.judge(false)
	return nil
}

// recount counts the stored child executions and marks their items as covered. It fails if a child execution exists
// and the items have changed since. Items without a child execution are read as they are now.
func (m *Run) recount(ctx context.Context, version string) error {
	for x, err := range m.Journal.Executions(ctx, m.names.prefix) {
		if err != nil {
			return err
		}
		switch {
		case x.MapRunARN != m.Call.ARN:
			continue
		case m.kept.Source != version:
			return &history.Failure{Name: plan.ErrItemReaderFailed, Cause: fmt.Sprintf(
				"The items have changed since the Map Run began: the object was %s and is %s now.", m.kept.Source,
				version)}
		case m.Redrives(x):
			m.redrivable = append(m.redrivable, x.ARN)
			m.count(func(items, executions *journal.Tally) {
				items.PendingRedrive += x.Items
				executions.PendingRedrive++
			})
		case x.Ended():
			if err := m.ended(x); err != nil {
				return err
			}
		case m.children[x.ARN] == nil:
			return fmt.Errorf("the child execution %s could not be resumed", x.ARN)
		}
		m.source.cover(x.FirstItem, x.Items, x.LastItem)
	}
	return nil
}
