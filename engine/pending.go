package engine

import (
	"context"
	"errors"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
)

// ErrNoRetry says that there is no such retry, or that it waits no more: it has begun, or its state or execution is
// over.
var ErrNoRetry = errors.New("no retry of this ID waits for its delay")

// errLooked drops the signal by which a run was looked into.
var errLooked = errors.New("engine: only looked")

// Pending returns what an execution waits for, in the order in which the waits began: retries with the times of their
// next attempts, Wait states, tasks and Map Runs. It is empty for an execution that is over. The error is
// ErrNoExecution, ErrClosed, that of the context, or one of the journal.
func (e *Engine) Pending(ctx context.Context, arn string) ([]history.Pending, error) {
	r := e.running(arn)
	if r == nil {
		_, err := e.DescribeExecution(ctx, arn)
		return nil, err
	}
	var found []history.Pending
	err := r.ask(ctx, interpreter.Signal{Kind: interpreter.Continue}, func(x *interpreter.Execution) error {
		found = x.Pending()
		return errLooked
	})
	switch {
	case errors.Is(err, errLooked):
		return found, nil
	case errors.Is(err, ErrTaskTimedOut): // it has ended meanwhile
		return nil, nil
	}
	return nil, err
}

// RetryNow has a retry begin at once that waits for its delay; id is that of its Pending. It returns once that is
// durable. The later delays of the state are those that they would have been. Its errors are ErrNoRetry,
// ErrNoExecution, ErrClosed, that of the context, and those of the journal.
func (e *Engine) RetryNow(ctx context.Context, arn string, id int64) error {
	r := e.running(arn)
	if r == nil {
		if _, err := e.DescribeExecution(ctx, arn); err != nil {
			return err
		}
		return ErrNoRetry
	}
	err := r.ask(ctx, interpreter.Signal{Kind: interpreter.TimerFired, ID: id}, func(x *interpreter.Execution) error {
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
