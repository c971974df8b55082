package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/journal"
)

// The errors of starting and finding executions.
var (
	// ErrAlreadyExists says that the name was used before, or is in use with another input.
	ErrAlreadyExists = errors.New("execution already exists")
	// ErrNoMachine says that Define has made no machine of that ARN in this engine.
	ErrNoMachine = errors.New("state machine does not exist")
	// ErrNoExecution says that the journal has no execution of that ARN.
	ErrNoExecution = errors.New("execution does not exist")
	// ErrInput says that the input is not JSON, or has more bytes than MaxPayload.
	ErrInput = errors.New("invalid state machine execution input")
)

// StartExecution starts an execution and returns its ARN once it is durable. A name that is already running with the
// same input starts nothing and returns the same ARN; any other use of a STANDARD name is ErrAlreadyExists. Its other
// errors are ErrNoMachine, ErrInput, ErrTestCase, journal.ErrDiskFull, and, with the start perhaps durable all the
// same, ErrClosed, that of the context and the journal's others.
func (e *Engine) StartExecution(ctx context.Context, machineARN, name, input string) (string, error) {
	e.mu.Lock()
	m := e.machines[machineARN]
	e.mu.Unlock()
	if m == nil {
		return "", fmt.Errorf("%w: %s", ErrNoMachine, machineARN)
	}
	started, err := e.Start(ctx, &Start{Machine: m, Origin: Origin{Name: name, Input: input}})
	if err != nil {
		return "", err
	}
	return started.ARN, nil
}

// register makes a run known and starts it with an event.
func (e *Engine) register(r *run, first interpreter.Signal) error {
	e.mu.Lock()
	switch {
	case e.closed:
		e.mu.Unlock()
		return ErrClosed
	case e.runs[r.record.ARN] != nil:
		e.mu.Unlock()
		return fmt.Errorf("%w: '%s'", ErrAlreadyExists, r.record.ARN)
	}
	e.runs[r.record.ARN] = r
	e.mu.Unlock()
	r.deliver(first)
	return nil
}

// Wait waits for the end of an execution and returns what became of it. Its errors are ErrNoExecution, ErrClosed when
// the engine closes first, that of the context, and what made the engine give the execution up, such as
// journal.ErrBroken.
func (e *Engine) Wait(ctx context.Context, arn string) (*journal.Execution, error) {
	if r := e.running(arn); r != nil {
		return r.wait(ctx)
	}
	return e.DescribeExecution(ctx, arn)
}

// Ended returns a channel that is closed once an execution is not under way any more.
func (e *Engine) Ended(arn string) <-chan struct{} {
	if r := e.running(arn); r != nil {
		return r.done
	}
	closed := make(chan struct{})
	close(closed)
	return closed
}

func (e *Engine) running(arn string) *run {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.runs[arn]
}

// DescribeExecution returns an execution's current state, ErrNoExecution, or an error of the journal.
func (e *Engine) DescribeExecution(ctx context.Context, arn string) (*journal.Execution, error) {
	x, err := e.cfg.Journal.Execution(ctx, arn)
	if errors.Is(err, journal.ErrNotFound) {
		return nil, fmt.Errorf("%w: '%s'", ErrNoExecution, arn)
	}
	return x, err
}

// History returns an execution's events so far. Whoever has learnt from DescribeExecution that an execution has ended
// gets all of them, although its run may not have heard from the journal yet. The error is ErrNoExecution, or one of
// the journal.
func (e *Engine) History(ctx context.Context, arn string) ([]history.Event, error) {
	if r := e.running(arn); r != nil && !e.hasEnded(ctx, arn) {
		return r.snapshot(), nil
	}
	h, err := e.cfg.Journal.History(ctx, arn)
	if errors.Is(err, journal.ErrNotFound) {
		return nil, fmt.Errorf("%w: '%s'", ErrNoExecution, arn)
	}
	return h, err
}

// hasEnded reports whether the journal has the end of an execution.
func (e *Engine) hasEnded(ctx context.Context, arn string) bool {
	x, err := e.cfg.Journal.Execution(ctx, arn)
	return err == nil && x.Status != history.Running
}

// StopExecution ends an execution with status ABORTED, and does not wait for that. Stopping one that has ended changes
// nothing; one that never was is ErrNoExecution. An engine that closes stops nothing any more and returns ErrClosed:
// what runs stays as the journal has it.
func (e *Engine) StopExecution(ctx context.Context, arn string, f history.Failure) error {
	if e.ctx.Err() != nil {
		return ErrClosed
	}
	r := e.running(arn)
	if r == nil {
		_, err := e.DescribeExecution(ctx, arn)
		return err
	}
	r.deliver(interpreter.Signal{Kind: interpreter.Stop, Failure: f})
	return nil
}

// StopAll stops every running execution and waits for their ends to be durable. The error is that of the context.
func (e *Engine) StopAll(ctx context.Context, f history.Failure) error {
	e.mu.Lock()
	runs := make(map[string]*run, len(e.runs))
	maps.Copy(runs, e.runs)
	e.mu.Unlock()
	for _, r := range runs {
		r.deliver(interpreter.Signal{Kind: interpreter.Stop, Failure: f})
	}
	for _, r := range runs {
		select {
		case <-r.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
