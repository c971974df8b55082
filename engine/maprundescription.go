package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/journal"
)

// ErrNoMapRun says that no Map Run of that ARN is known, ErrMapRunOver that it cannot be changed any more.
var (
	ErrNoMapRun   = errors.New("engine: no such Map Run")
	ErrMapRunOver = errors.New("engine: the Map Run is not under way any more")
)

// MapRun describes a Map Run.
type MapRun = journal.MapRun

// MapRunLimits are what UpdateMapRun may change.
type MapRunLimits = journal.MapRunLimits

// MapRunUpdate changes the limits that are not nil.
type MapRunUpdate struct {
	MaxConcurrency, ToleratedFailureCount *int64
	ToleratedFailurePercentage            *float64
}

// DescribeMapRun returns what a Map Run is and how far it has come, ErrNoMapRun, or an error of the journal.
func (e *Engine) DescribeMapRun(ctx context.Context, arn string) (*MapRun, error) {
	e.mu.Lock()
	m := e.mapRuns[arn]
	e.mu.Unlock()
	if m != nil {
		return m.describe(), nil
	}
	kept, err := e.cfg.Journal.MapRun(ctx, arn)
	if errors.Is(err, journal.ErrNotFound) {
		return nil, fmt.Errorf("%w: %s", ErrNoMapRun, arn)
	}
	if err != nil {
		return nil, err
	}
	return over(kept), nil
}

// over corrects the description of a Map Run that is not under way: one that was never said to be over went down with
// its execution.
func over(m *MapRun) *MapRun {
	if m.Status == history.Running {
		m.Status = history.Aborted
	}
	return m
}

// MapRunsOf returns the Map Runs of an execution, the latest first: none of an execution that is not known. The error
// is one of the journal.
func (e *Engine) MapRunsOf(ctx context.Context, execution string) ([]*MapRun, error) {
	byARN := map[string]*MapRun{}
	for _, m := range e.mapRunsUnderWay() {
		if m.parent.record.ARN == execution {
			byARN[m.call.ARN] = m.describe()
		}
	}
	for kept, err := range e.cfg.Journal.MapRuns(ctx, execution) {
		if err == nil && kept.Status == history.Running {
			kept, err = e.DescribeMapRun(ctx, kept.ARN) // it may have come to its end meanwhile
		}
		if err != nil {
			return nil, err
		}
		if kept.Execution == execution {
			byARN[kept.ARN] = kept
		}
	}
	return slices.SortedFunc(maps.Values(byARN), func(a, b *MapRun) int {
		if c := b.Started.Compare(a.Started); c != 0 {
			return c
		}
		return strings.Compare(a.ARN, b.ARN)
	}), nil
}

// UpdateMapRun changes the limits of a Map Run that is under way, and returns when that is durable. Its errors are
// ErrNoMapRun, ErrMapRunOver, that of the context, and those of the journal.
func (e *Engine) UpdateMapRun(ctx context.Context, arn string, u MapRunUpdate) error {
	e.mu.Lock()
	m := e.mapRuns[arn]
	e.mu.Unlock()
	if m == nil {
		if _, err := e.DescribeMapRun(ctx, arn); err != nil {
			return err
		}
		return fmt.Errorf("%w: %s", ErrMapRunOver, arn)
	}
	kept := make(chan error, 1)
	m.mu.Lock()
	if m.about.Status != history.Running {
		m.mu.Unlock()
		return fmt.Errorf("%w: %s", ErrMapRunOver, arn)
	}
	u.change(&m.about.MapRunLimits)
	m.keep(func(err error) { kept <- err })
	m.mu.Unlock()
	m.ends.poke()
	select {
	case err := <-kept:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (u *MapRunUpdate) change(l *MapRunLimits) {
	if u.MaxConcurrency != nil {
		l.MaxConcurrency = *u.MaxConcurrency
	}
	if u.ToleratedFailureCount != nil {
		l.ToleratedFailureCount, l.CountGiven = *u.ToleratedFailureCount, true
	}
	if u.ToleratedFailurePercentage != nil {
		l.ToleratedFailurePercentage, l.PercentageGiven = *u.ToleratedFailurePercentage, true
	}
}

func (m *mapRun) limits() MapRunLimits {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.about.MapRunLimits
}

// room is how many children may be under way at once.
func (m *mapRun) room() int {
	if c := m.limits().MaxConcurrency; c > 0 {
		return int(min(c, maxChildren))
	}
	return maxChildren
}

func (m *mapRun) describe() *MapRun {
	m.mu.Lock()
	defer m.mu.Unlock()
	copied := m.about
	m.countPending(&copied)
	return &copied
}

// countPending counts the items of the state's input that are still to come, whose number is known from the start. How
// many items an ItemReader is still to read is not known before it has read them.
func (m *mapRun) countPending(about *MapRun) {
	if about.Status != history.Running || m.call.State.Map.Reader != nil {
		return
	}
	items := max(int64(len(m.call.Items))-about.Items.Total(), 0)
	about.Items.Pending += items
	switch size := m.call.MaxItemsPerBatch; {
	case m.call.State.Map.Batcher == nil:
		about.Executions.Pending += items
	case size > 0 && m.call.MaxInputBytesPerBatch == 0:
		about.Executions.Pending += (items + size - 1) / size
	}
}

// now is the time of the execution that the Map Run belongs to.
func (m *mapRun) now() time.Time { return m.engine.clock.Now().Add(m.parent.ahead) }

// keep has the journal keep the description as it is. It is called with mu held, so that descriptions are kept in
// order. What is counted as running is left out, since that is known from the child executions.
func (m *mapRun) keep(done func(error)) {
	copied := m.about
	copied.Items.Running, copied.Executions.Running = 0, 0
	m.engine.cfg.Journal.PutMapRun(&copied, done)
}

// retire keeps the description of a Map Run that is over. Who asks finds it here until the journal has it.
func (m *mapRun) retire(outcome interpreter.Signal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.about.Status, m.about.Stopped = history.Succeeded, m.now()
	if outcome.Kind == interpreter.MapRunFailed {
		m.about.Status = history.Failed
		if outcome.Failure == aborted {
			m.about.Status = history.Aborted
		}
	}
	m.keep(func(error) { m.forget() })
}

// abandon gives the Map Run up in this process, and with it the execution that waits for it.
func (m *mapRun) abandon(err error) {
	m.ends.close(m.engine)
	m.forget()
	if !errors.Is(err, ErrClosed) {
		m.parent.giveUp(err)
	}
}

func (m *mapRun) forget() {
	m.engine.mu.Lock()
	delete(m.engine.mapRuns, m.call.ARN)
	m.engine.mu.Unlock()
	close(m.gone)
}

// aborted is how a Map Run fails whose execution has been stopped.
var aborted = history.NewFailure("States.Aborted", "The Map Run was aborted.")
