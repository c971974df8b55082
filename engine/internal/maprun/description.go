package maprun

import (
	"context"
	"errors"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/journal"
)

// ErrOver says that a Map Run cannot be changed any more.
var ErrOver = errors.New("the Map Run is over")

// Update changes the limits that are not nil.
type Update struct {
	MaxConcurrency, ToleratedFailureCount *int64
	ToleratedFailurePercentage            *float64
}

// Update changes limits and returns when that is durable. Its errors are ErrOver, that of the context, and those of the
// journal.
func (m *Run) Update(ctx context.Context, u Update) error {
	kept := make(chan error, 1)
	m.mu.Lock()
	if m.about.Status != history.Running {
		m.mu.Unlock()
		return ErrOver
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

func (u *Update) change(l *journal.MapRunLimits) {
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

func (m *Run) limits() journal.MapRunLimits {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.about.MapRunLimits
}

// room is how many children may be under way at once.
func (m *Run) room() int {
	if c := m.limits().MaxConcurrency; c > 0 {
		return int(min(c, maxChildren))
	}
	return maxChildren
}

// Describe returns what the Map Run is and how far it has come.
func (m *Run) Describe() *journal.MapRun {
	m.mu.Lock()
	defer m.mu.Unlock()
	copied := m.about
	m.countPending(&copied)
	return &copied
}

// countPending counts the items of the state's input that are still to come, whose number is known from the start. How
// many items an ItemReader is still to read is not known before it has read them.
func (m *Run) countPending(about *journal.MapRun) {
	if about.Status != history.Running || m.Call.State.Map.Reader != nil {
		return
	}
	items := max(int64(len(m.Call.Items))-about.Items.Total(), 0)
	about.Items.Pending += items
	switch size := m.Call.MaxItemsPerBatch; {
	case m.Call.State.Map.Batcher == nil:
		about.Executions.Pending += items
	case size > 0 && m.Call.MaxInputBytesPerBatch == 0:
		about.Executions.Pending += (items + size - 1) / size
	}
}

// keep has the journal keep the description as it is. It is called with mu held, so that descriptions are kept in
// order. What is counted as running is left out, since that is known from the child executions.
func (m *Run) keep(done func(error)) {
	copied := m.about
	copied.Items.Running, copied.Executions.Running = 0, 0
	if copied.Stopped.IsZero() {
		copied.Slowest = nil // who goes on with the Map Run looks at all that have ended
	}
	m.Journal.PutMapRun(&copied, done)
}

// retire keeps the description of a Map Run that is over. Who asks finds it here until the journal has it.
func (m *Run) retire(outcome interpreter.Signal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.about.Status, m.about.Stopped = history.Succeeded, m.Host.Now()
	if outcome.Kind == interpreter.MapRunFailed {
		m.about.Status = history.Failed
		if outcome.Failure == aborted {
			m.about.Status = history.Aborted
		}
	}
	m.keep(func(error) { m.forget() })
}

func (m *Run) forget() {
	m.Forget()
	close(m.gone)
}

// aborted is how a Map Run fails whose execution has been stopped.
var aborted = history.NewFailure("States.Aborted", "The Map Run was aborted.")
