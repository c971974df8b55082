package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/journal"
)

// RedrivePeriod is the time after its end during which an execution can be redriven.
const RedrivePeriod = 14 * 24 * time.Hour

// NotRedrivableError reports that an execution cannot be redriven; Reason says why.
type NotRedrivableError struct{ Reason string }

// Error implements error.
func (e *NotRedrivableError) Error() string { return e.Reason }

var errRunning = &NotRedrivableError{"Execution is RUNNING and cannot be redriven"}

// Redrivable returns a *NotRedrivableError unless the execution can be redriven or, for a Map Run's child execution,
// can be redriven with its Map Run. The reasons use the service's wording.
func (e *Engine) Redrivable(x *journal.Execution) error {
	var reason string
	switch {
	case x.Status == history.Running || x.Status == history.Succeeded:
		reason = "Execution is " + string(x.Status) + " and cannot be redriven"
	case x.HistorySize >= interpreter.MaxEvents-1:
		reason = "Execution history event limit exceeded"
	case x.Stop.Sub(x.Start) >= interpreter.MaxDuration:
		reason = "Execution has exceeded the max execution time"
	case e.clock.Now().Sub(x.Stop) > RedrivePeriod:
		reason = "Execution redrivable period exceeded"
	default:
		return nil
	}
	return &NotRedrivableError{reason}
}

// RedriveExecution resumes a STANDARD execution that ended without success at the state where it failed, and returns
// the time of the redrive. States that succeeded are not run again. Repeating one of the last ten tokens within 15
// minutes, in this process or after a restart, changes nothing; an empty token is not remembered. The error is a
// *NotRedrivableError if the execution cannot be redriven and ErrNoExecution if it does not exist; others are those
// of StartExecution.
func (e *Engine) RedriveExecution(ctx context.Context, arn, token string) (time.Time, error) {
	end, err := e.redrives.acquire(ctx, arn)
	if err != nil {
		return time.Time{}, err
	}
	defer end()
	if err := e.AwaitRecovery(ctx); err != nil { // it may still end the child executions of an earlier Map Run
		return time.Time{}, err
	}
	x, err := e.DescribeExecution(ctx, arn)
	if err != nil {
		return time.Time{}, err
	}
	if at, ok := redrivenWith(x, token, e.clock.Now()); ok {
		return at, nil
	}
	if x.MapRunARN != "" {
		return time.Time{}, &NotRedrivableError{"Child executions are redriven with the execution that their Map Run belongs to"}
	}
	if err := e.Redrivable(x); err != nil {
		return time.Time{}, err
	}
	m, err := e.machineOf(ctx, x)
	if err != nil {
		return time.Time{}, fmt.Errorf("execution %s: %w", arn, err)
	}
	mocks, err := e.interceptorFor(m.Name, x.TestCase)
	if err != nil {
		return time.Time{}, err
	}
	r, err := e.reopen(ctx, x, m, mocks)
	if err != nil {
		return time.Time{}, err
	}
	r.redriveToken = token
	if err := e.register(r, interpreter.Signal{Kind: interpreter.Redrive}); err != nil {
		if errors.Is(err, ErrAlreadyExists) { // another call has redriven it in between
			err = errRunning
		}
		return time.Time{}, err
	}
	if _, err := r.awaitStart(ctx); err != nil {
		return time.Time{}, err
	}
	if x, err = e.DescribeExecution(ctx, arn); err != nil {
		return time.Time{}, err
	}
	return x.Redriven, nil
}

// PendingRedrive reports whether a child execution that ended without success is waiting for its Map Run to redrive
// it.
func (e *Engine) PendingRedrive(x *journal.Execution) bool {
	if x.MapRunARN == "" {
		return false
	}
	e.mu.Lock()
	m := e.mapRuns[x.MapRunARN]
	e.mu.Unlock()
	return m != nil && m.Redrives(x) && m.Describe().Status == history.Running
}

// reopen restores an ended execution by replaying its signals. It first waits until all of its earlier work has
// finished.
func (e *Engine) reopen(ctx context.Context, x *journal.Execution, m *StateMachine, mocks Interceptor) (*run, error) {
	if err := e.settle(ctx, x.ARN); err != nil {
		return nil, err
	}
	events, err := e.cfg.Journal.Signals(ctx, x.ARN)
	if err != nil {
		return nil, fmt.Errorf("the events of %s: %w", x.ARN, err)
	}
	kept, err := e.cfg.Journal.History(ctx, x.ARN)
	if err != nil {
		return nil, fmt.Errorf("the history of %s: %w", x.ARN, err)
	}
	r := e.runOf(m, x, mocks)
	past := journal.Step{Signals: events, History: kept}
	effects, err := r.reapply([]journal.Step{past})
	if err != nil {
		return nil, fmt.Errorf("execution %s cannot be redriven: %w", x.ARN, err)
	}
	r.skipMocks(effects, nil)
	r.past = &journal.Past{Step: past, Stopped: x.Stop, Status: x.Status}
	r.record.Status, r.record.Stop, r.record.Failure, r.record.HistorySize = history.Running, time.Time{},
		history.Failure{}, 0
	r.record.RedriveCount++
	r.steps = 1
	r.ahead = max(0, r.last.Sub(e.clock.Now()))
	return r, nil
}

// settle waits until an ended execution and its Map Runs have released everything.
func (e *Engine) settle(ctx context.Context, arn string) error {
	var ends []<-chan struct{}
	if r := e.running(arn); r != nil {
		ends = append(ends, r.done)
	}
	for _, m := range e.mapRunsUnderWay() {
		if m.Parent.ARN == arn {
			ends = append(ends, m.Gone())
		}
	}
	return e.awaitAll(ctx, ends)
}
