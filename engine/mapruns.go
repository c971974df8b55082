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
	"stepback/engine/internal/maprun"
	"stepback/engine/journal"
)

// ErrNoMapRun is returned for an unknown Map Run ARN, ErrMapRunOver if the Map Run has ended and can no longer be
// changed.
var (
	ErrNoMapRun   = errors.New("engine: no such Map Run")
	ErrMapRunOver = errors.New("engine: the Map Run is no longer running")
)

// MapRun describes a Map Run.
type MapRun = journal.MapRun

// MapRunLimits are the limits that UpdateMapRun may change.
type MapRunLimits = journal.MapRunLimits

// MapRunUpdate changes the limits that are not nil.
type MapRunUpdate struct {
	MaxConcurrency, ToleratedFailureCount *int64
	ToleratedFailurePercentage            *float64
}

// DescribeMapRun returns the description and progress of a Map Run, ErrNoMapRun, or an error of the journal.
func (e *Engine) DescribeMapRun(ctx context.Context, arn string) (*MapRun, error) {
	for {
		e.mu.Lock()
		m := e.mapRuns[arn]
		_, resumes := e.adopted[arn]
		recovering := e.recovering != nil
		e.mu.Unlock()
		if m != nil {
			return m.Describe(), nil
		}
		kept, err := e.cfg.Journal.MapRun(ctx, arn)
		switch {
		case errors.Is(err, journal.ErrNotFound):
			return nil, fmt.Errorf("%w: %s", ErrNoMapRun, arn)
		case err != nil:
			return nil, err
		case resumes:
			return kept, nil
		case recovering && kept.Status == history.Running: // it may be about to resume
			if err := e.AwaitRecovery(ctx); err != nil {
				return nil, err
			}
		default:
			return markAborted(kept), nil
		}
	}
}

// markAborted corrects the description of a Map Run that is not running. If the description says that it is
// running, the Map Run stopped together with its execution and counts as aborted.
func markAborted(m *MapRun) *MapRun {
	if m.Status == history.Running {
		m.Status = history.Aborted
	}
	return m
}

// MapRunsOf returns the Map Runs of an execution, latest first; none for an unknown execution. The error comes from
// the journal.
func (e *Engine) MapRunsOf(ctx context.Context, execution string) ([]*MapRun, error) {
	byARN := map[string]*MapRun{}
	for _, m := range e.mapRunsUnderWay() {
		if m.Parent.ARN == execution {
			byARN[m.ARN()] = m.Describe()
		}
	}
	for kept, err := range e.cfg.Journal.MapRuns(ctx, execution+"\x00") {
		if err == nil && kept.Status == history.Running {
			kept, err = e.DescribeMapRun(ctx, kept.ARN) // it may have ended meanwhile
		}
		if err != nil {
			return nil, err
		}
		byARN[kept.ARN] = kept
	}
	return slices.SortedFunc(maps.Values(byARN), func(a, b *MapRun) int {
		if c := b.Started.Compare(a.Started); c != 0 {
			return c
		}
		return strings.Compare(a.ARN, b.ARN)
	}), nil
}

// UpdateMapRun changes the limits of a running Map Run, and returns once the change is durable. Its errors are
// ErrNoMapRun, ErrMapRunOver, that of the context, and those of the journal.
func (e *Engine) UpdateMapRun(ctx context.Context, arn string, u MapRunUpdate) error {
	e.mu.Lock()
	m := e.mapRuns[arn]
	e.mu.Unlock()
	if m == nil {
		if _, err := e.DescribeMapRun(ctx, arn); err != nil { // waits for a recovery
			return err
		}
		e.mu.Lock()
		m = e.mapRuns[arn]
		e.mu.Unlock()
	}
	if m == nil {
		return fmt.Errorf("%w: %s", ErrMapRunOver, arn)
	}
	err := m.Update(ctx, maprun.Update(u))
	if errors.Is(err, maprun.ErrOver) {
		return fmt.Errorf("%w: %s", ErrMapRunOver, arn)
	}
	return err
}

// Counts are the counters of a Map Run, by items and by child executions.
type Counts struct {
	Items, Executions Tally
	// Started is the start time of the Map Run.
	Started time.Time
}

// Tally counts by status.
type Tally = journal.Tally

// MapRuns returns the counters of all running Map Runs, by ARN.
func (e *Engine) MapRuns() map[string]Counts {
	out := map[string]Counts{}
	for _, m := range e.mapRunsUnderWay() {
		items, executions, started := m.Counts()
		out[m.ARN()] = Counts{Items: items, Executions: executions, Started: started}
	}
	return out
}

func (e *Engine) mapRunsUnderWay() []*maprun.Run {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Values(e.mapRuns))
}
