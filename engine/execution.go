package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/journal"
	"stepback/internal/ctxerr"
)

// Errors of starting and finding executions.
var (
	// ErrAlreadyExists is returned if the name was used before, or is in use with a different input.
	ErrAlreadyExists = errors.New("execution already exists")
	// ErrNoMachine is returned if this engine has no state machine with the ARN.
	ErrNoMachine = errors.New("state machine does not exist")
	// ErrNoExecution is returned if the journal has no execution with the ARN.
	ErrNoExecution = errors.New("execution does not exist")
	// ErrInput is returned if the input is not JSON, or is longer than MaxPayload bytes.
	ErrInput = errors.New("invalid state machine execution input")
)

// StartExecution starts an execution and returns its ARN once it is durable. If an execution with this name is
// already running with the same input, it starts nothing and returns the same ARN. Any other use of the name of a
// STANDARD execution is ErrAlreadyExists.
//
// Other errors are ErrNoMachine, ErrInput, ErrTestCase and journal.ErrDiskFull. If it returns ErrClosed, the
// context's error or another error of the journal, the start may be durable nevertheless.
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

// register adds a run to the engine and delivers its first signal.
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
	if by := e.restoring[r.record.ARN]; by != nil {
		by.overtaken = true
	}
	e.mu.Unlock()
	r.deliver(first)
	return nil
}

// Wait waits for the end of an execution and returns its result. It fails with ErrNoExecution, with ErrClosed if
// the engine closes first, with the context's error, or with the error because of which the engine gave the
// execution up, such as journal.ErrBroken.
func (e *Engine) Wait(ctx context.Context, arn string) (*journal.Execution, error) {
	r, err := e.find(ctx, arn)
	switch {
	case err != nil:
		return nil, err
	case r != nil:
		return r.wait(ctx)
	}
	return e.DescribeExecution(ctx, arn)
}

// Ended returns a channel that is closed once the execution is no longer running.
func (e *Engine) Ended(arn string) <-chan struct{} {
	if r, _ := e.find(e.ctx, arn); r != nil { // an execution that cannot be restored does not run
		return r.done
	}
	closed := make(chan struct{})
	close(closed)
	return closed
}

// running returns the run of an execution that is in memory; nil if there is none. See find.
func (e *Engine) running(arn string) *run {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.runs[arn]
}

// DescribeExecution returns an execution's current state. It fails with ErrNoExecution or an error of the journal.
func (e *Engine) DescribeExecution(ctx context.Context, arn string) (*journal.Execution, error) {
	x, err := e.cfg.Journal.Execution(ctx, arn)
	if errors.Is(err, journal.ErrNotFound) {
		return nil, fmt.Errorf("%w: '%s'", ErrNoExecution, arn)
	}
	return x, err
}

// History returns an execution's events so far. Once DescribeExecution has reported the end of an execution, History
// returns all of its events, even if its run has not received the journal's result yet. It fails with ErrNoExecution
// or an error of the journal.
func (e *Engine) History(ctx context.Context, arn string) ([]history.Event, error) {
	r, err := e.find(ctx, arn)
	if err != nil {
		return nil, err
	}
	if r != nil && !e.hasEnded(ctx, arn) {
		return r.snapshot(), nil
	}
	h, err := e.cfg.Journal.History(ctx, arn)
	if errors.Is(err, journal.ErrNotFound) {
		return nil, fmt.Errorf("%w: '%s'", ErrNoExecution, arn)
	}
	return h, err
}

// hasEnded reports whether the journal has recorded the end of an execution.
func (e *Engine) hasEnded(ctx context.Context, arn string) bool {
	x, err := e.cfg.Journal.Execution(ctx, arn)
	return err == nil && x.Status != history.Running
}

// StopExecution ends an execution with status ABORTED, without waiting for the end. If the execution has already
// ended, it does nothing. It fails with ErrNoExecution if the execution does not exist, and with ErrClosed if the
// engine is closing. In the latter case, running executions keep the state that the journal has stored.
func (e *Engine) StopExecution(ctx context.Context, arn string, f history.Failure) error {
	if e.ctx.Err() != nil {
		return ErrClosed
	}
	r, err := e.find(ctx, arn)
	if err != nil {
		return err
	}
	if r == nil {
		_, err := e.DescribeExecution(ctx, arn)
		return err
	}
	r.deliverEnd(interpreter.Signal{Kind: interpreter.Stop, Failure: f})
	return nil
}

// StopAll stops every running execution and waits until their ends are durable. It also stops executions that start
// meanwhile, such as further children of a Map Run that is about to stop. It returns ErrClosed if the engine closes,
// the context's error, that of a recovery in the background, or an error of the journal.
func (e *Engine) StopAll(ctx context.Context, f history.Failure) error {
	if err := e.restoreAll(ctx); err != nil {
		return err
	}
	for {
		ends := e.stopRunning(f)
		if len(ends) == 0 {
			return nil
		}
		if err := e.awaitAll(ctx, ends); err != nil {
			return err
		}
	}
}

// stopRunning stops the executions that are running, and returns channels that are closed once they and the Map Runs
// under way have ended.
func (e *Engine) stopRunning(f history.Failure) []<-chan struct{} {
	e.mu.Lock()
	runs, mapRuns := slices.Collect(maps.Values(e.runs)), slices.Collect(maps.Values(e.mapRuns))
	e.mu.Unlock()
	ends := make([]<-chan struct{}, 0, len(runs)+len(mapRuns))
	for _, r := range runs {
		r.deliverEnd(interpreter.Signal{Kind: interpreter.Stop, Failure: f})
		ends = append(ends, r.done)
	}
	for _, m := range mapRuns {
		ends = append(ends, m.Gone())
	}
	return ends
}

// awaitAll waits until all channels are closed. It returns the context's error, or ErrClosed if the engine closes.
func (e *Engine) awaitAll(ctx context.Context, ends []<-chan struct{}) error {
	for _, end := range ends {
		select {
		case <-end:
		case <-ctx.Done():
			return ctxerr.Of(ctx)
		case <-e.ctx.Done():
			return ErrClosed
		}
	}
	return nil
}

// restoreAll waits for a recovery in the background, and restores all dormant executions.
func (e *Engine) restoreAll(ctx context.Context) error {
	if err := e.AwaitRecovery(ctx); err != nil {
		return err
	}
	e.mu.Lock()
	arns := slices.Collect(maps.Keys(e.dormant))
	e.mu.Unlock()
	for _, arn := range arns {
		if _, err := e.find(ctx, arn); err != nil {
			return err
		}
	}
	return nil
}
