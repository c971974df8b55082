package engine

import (
	"context"
	"errors"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
)

// ErrNoRetry is returned if there is no such retry or it no longer waits: it has started, or its state or execution
// has ended.
var ErrNoRetry = errors.New("no pending retry has this ID")

// errInspectOnly drops the signal that is used to inspect a run.
var errInspectOnly = errors.New("engine: only looked")

// Pending returns what an execution is waiting for, in the order in which the waits began: retries with the times of
// their next attempts, Wait states, tasks and Map Runs. It is empty for an ended execution. The error is
// ErrNoExecution, ErrClosed, that of the context, or one of the journal.
func (e *Engine) Pending(ctx context.Context, arn string) ([]history.Pending, error) {
	r, err := e.find(ctx, arn)
	if err != nil {
		return nil, err
	}
	if r == nil {
		_, err := e.DescribeExecution(ctx, arn)
		return nil, err
	}
	var found []history.Pending
	err = r.ask(ctx, interpreter.Signal{Kind: interpreter.Continue}, func(x *interpreter.Execution) error {
		found = x.Pending()
		return errInspectOnly
	})
	switch {
	case errors.Is(err, errInspectOnly):
		return found, nil
	case errors.Is(err, ErrTaskTimedOut): // it has ended meanwhile
		return nil, nil
	}
	return nil, err
}

// RetryNow immediately starts a retry that is waiting for its delay. id is the ID in the retry's Pending. RetryNow
// returns once the start is durable. The later delays of the state do not change. Its errors are ErrNoRetry,
// ErrNoExecution, ErrClosed, that of the context, and those of the journal.
func (e *Engine) RetryNow(ctx context.Context, arn string, id int64) error {
	r, err := e.find(ctx, arn)
	if err != nil {
		return err
	}
	if r == nil {
		if _, err := e.DescribeExecution(ctx, arn); err != nil {
			return err
		}
		return ErrNoRetry
	}
	err = r.ask(ctx, interpreter.Signal{Kind: interpreter.TimerFired, ID: id}, func(x *interpreter.Execution) error {
		if !x.Delayed(id) {
			return ErrNoRetry
		}
		return nil
	})
	if errors.Is(err, ErrTaskTimedOut) {
		return ErrNoRetry
	}
	return err
}
