package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stepback/engine/history"
	"stepback/engine/interpreter"
)

// ErrNoMapRun says that no Map Run of that ARN is known, ErrMapRunOver that it cannot be changed any more.
var (
	ErrNoMapRun   = errors.New("engine: no such Map Run")
	ErrMapRunOver = errors.New("engine: the Map Run is not under way any more")
)

// MapRun describes a Map Run. Those that are over are known until the engine closes.
type MapRun struct {
	ARN string
	// Execution is the ARN of the execution whose Map state it is, Machine the labelled ARN of its child executions' machine.
	Execution, Machine string
	Status             interpreter.Status
	Stopped            time.Time // zero while it is under way
	MapRunLimits
	Counts
}

// MapRunLimits are what UpdateMapRun may change.
type MapRunLimits struct {
	MaxConcurrency             int64 // 0 means as many as the service allows
	ToleratedFailureCount      int64
	ToleratedFailurePercentage float64

	countGiven, percentageGiven bool
}

// MapRunUpdate changes the limits that are not nil.
type MapRunUpdate struct {
	MaxConcurrency, ToleratedFailureCount *int64
	ToleratedFailurePercentage            *float64
}

// DescribeMapRun returns what a Map Run is and how far it has come.
func (e *Engine) DescribeMapRun(arn string) (*MapRun, error) {
	e.mu.Lock()
	m, over := e.mapRuns[arn], e.ended[arn]
	e.mu.Unlock()
	switch {
	case m != nil:
		return m.describe(), nil
	case over != nil:
		copied := *over
		return &copied, nil
	default:
		return nil, fmt.Errorf("%w: %s", ErrNoMapRun, arn)
	}
}

// MapRunsOf returns the Map Runs of an execution, the latest first.
func (e *Engine) MapRunsOf(execution string) []*MapRun {
	var found []*MapRun
	e.mu.Lock()
	for _, m := range e.mapRuns {
		if m.parent.record.ARN == execution {
			found = append(found, m.describe())
		}
	}
	for _, over := range e.ended {
		if over.Execution == execution {
			copied := *over
			found = append(found, &copied)
		}
	}
	e.mu.Unlock()
	slices.SortFunc(found, func(a, b *MapRun) int {
		if c := b.Started.Compare(a.Started); c != 0 {
			return c
		}
		return strings.Compare(a.ARN, b.ARN)
	})
	return found
}

// UpdateMapRun changes the limits of a Map Run that is under way.
func (e *Engine) UpdateMapRun(arn string, u MapRunUpdate) error {
	e.mu.Lock()
	m, over := e.mapRuns[arn], e.ended[arn]
	e.mu.Unlock()
	switch {
	case over != nil:
		return fmt.Errorf("%w: %s", ErrMapRunOver, arn)
	case m == nil:
		return fmt.Errorf("%w: %s", ErrNoMapRun, arn)
	}
	m.mu.Lock()
	m.limits.change(u)
	m.mu.Unlock()
	m.ends.poke()
	return nil
}

func (l *MapRunLimits) change(u MapRunUpdate) {
	if u.MaxConcurrency != nil {
		l.MaxConcurrency = *u.MaxConcurrency
	}
	if u.ToleratedFailureCount != nil {
		l.ToleratedFailureCount, l.countGiven = *u.ToleratedFailureCount, true
	}
	if u.ToleratedFailurePercentage != nil {
		l.ToleratedFailurePercentage, l.percentageGiven = *u.ToleratedFailurePercentage, true
	}
}

func (m *mapRun) currentLimits() MapRunLimits {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.limits
}

// room is how many children may be under way at once.
func (m *mapRun) room() int {
	if c := m.currentLimits().MaxConcurrency; c > 0 {
		return int(min(c, maxChildren))
	}
	return maxChildren
}

func (m *mapRun) describe() *MapRun {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &MapRun{
		ARN: m.call.ARN, Execution: m.parent.record.ARN, Machine: m.child.ARN, Status: interpreter.Running,
		MapRunLimits: m.limits, Counts: m.counts,
	}
}

// retire keeps the description of a Map Run that is over.
func (e *Engine) retire(m *mapRun, outcome interpreter.Event) {
	over := m.describe()
	over.Status, over.Stopped = interpreter.Succeeded, e.clock.Now()
	if outcome.Kind == interpreter.MapRunFailed {
		over.Status = interpreter.Failed
		if outcome.Failure == aborted {
			over.Status = interpreter.Aborted
		}
	}
	e.mu.Lock()
	delete(e.mapRuns, m.call.ARN)
	e.ended[m.call.ARN] = over
	e.mu.Unlock()
}

// aborted is how a Map Run fails whose execution has been stopped.
var aborted = history.NewFailure("States.Aborted", "The Map Run was aborted.")
