package maprun

import (
	"context"
	"errors"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/journal"
)

// ErrOver is returned if a Map Run has ended and can no longer be changed.
var ErrOver = errors.New("the Map Run is over")

// Update holds new limits; nil leaves a limit unchanged.
type Update struct {
	MaxConcurrency, ToleratedFailureCount *int64
	ToleratedFailurePercentage            *float64
}

// Update changes limits and returns once that is durable. It fails with ErrOver, the context's error, or an error of
// the journal.
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

// room returns how many children may run concurrently.
func (m *Run) room() int {
	if c := m.limits().MaxConcurrency; c > 0 {
		return int(min(c, maxChildren))
	}
	return maxChildren
}

// Describe returns the Map Run's description and progress.
func (m *Run) Describe() *journal.MapRun {
	m.mu.Lock()
	defer m.mu.Unlock()
	copied := m.about
	m.countPending(&copied)
	return &copied
}

// countPending counts the remaining items of the state's input, whose total is known from the start. The number of
// items that an ItemReader has yet to read is unknown.
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

// keep stores the current description in the journal. It is called with mu held, so that descriptions are stored in
// order. The number of running items is left out, because it follows from the child executions.
func (m *Run) keep(done func(error)) {
	copied := m.about
	copied.Items.Running, copied.Executions.Running = 0, 0
	if copied.Stopped.IsZero() {
		copied.Slowest = nil // a process that resumes the Map Run looks at all that have ended
	}
	m.Journal.PutMapRun(&copied, done)
}

// retire stores the final description of a Map Run. Queries find it here until the journal has it.
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

// aborted is the failure of a Map Run whose execution has been stopped.
var aborted = history.NewFailure("States.Aborted", "The Map Run was aborted.")
