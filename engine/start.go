package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"stepback/aws"
	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/journal"
	"stepback/internal/ctxerr"
	"stepback/jsonvalue"
)

// Start describes an execution to start. With a TestCase, Config.Mocks supplies the mocks of its tasks.
type Start struct {
	Machine *StateMachine
	Origin
	// NewName is true if the caller has just drawn the name at random, so that no earlier execution can have it. The
	// engine then does not look for one in the journal.
	NewName bool
}

// Started is an execution that was started, or that was already running under the same name with the same input.
type Started struct {
	ARN string
	// At is the start time of the execution.
	At time.Time

	run *run
}

// Wait waits for the end of the execution and returns its description. It need not read the journal, which stores the
// ends of EXPRESS executions asynchronously. Its errors are those of Engine.Wait.
func (s *Started) Wait(ctx context.Context) (*journal.Execution, error) { return s.run.wait(ctx) }

// Start starts an execution of a compiled machine like StartExecution, with the same errors except ErrNoMachine.
func (e *Engine) Start(ctx context.Context, s *Start) (*Started, error) {
	r, err := e.prepare(s)
	if err != nil {
		return nil, err
	}
	for unused := r.record.Express || s.NewName; ; unused = r.record.Express {
		if !unused {
			same, err := e.existingRun(ctx, r)
			if err != nil {
				return nil, err
			}
			if same != nil {
				return same.awaitStart(ctx)
			}
		}
		err := e.register(r, r.start())
		if err == nil {
			return r.awaitStart(ctx)
		}
		if !errors.Is(err, ErrAlreadyExists) { // otherwise another call started it in between
			return nil, err
		}
	}
}

// prepare builds the run of an execution.
func (e *Engine) prepare(s *Start) (*run, error) {
	if _, err := jsonvalue.Parse(s.Input); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	if len(s.Input) > interpreter.MaxPayload {
		return nil, fmt.Errorf("%w: %d bytes are more than the %d that an execution takes", ErrInput, len(s.Input),
			interpreter.MaxPayload)
	}
	m := s.Machine
	mocks, err := e.interceptorFor(m.Name, s.TestCase)
	if err != nil {
		return nil, err
	}
	if f, ok := mocks.(Fitting); ok {
		if err := f.Fits(m.Definition); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrTestCase, err)
		}
	}
	info := history.Info{MachineARN: m.ARN, Express: m.Express, Origin: s.Origin}
	if m.Express {
		info.ARN = history.ExpressARN(m.ARN, s.Name, aws.UUID(e.seeds.next(), e.seeds.next()))
	} else {
		info.ARN = history.ExecutionARN(m.ARN, s.Name)
	}
	r := e.newRun(m, info)
	r.mocks = mocks
	return r, nil
}

// existingRun handles a repeated start of a name: it returns the running execution if that has the same input, and
// ErrAlreadyExists otherwise. It returns nil if there is no execution of that name. If DescribeExecution already
// reports the execution as ended, the error is ErrAlreadyExists, even if its run has not yet heard from the
// journal.
func (e *Engine) existingRun(ctx context.Context, r *run) (*run, error) {
	arn := r.record.ARN
	same, err := e.find(ctx, arn)
	if err != nil {
		return nil, err
	}
	if same != nil && !e.hasEnded(ctx, arn) {
		if same.record.Input == r.record.Input {
			return same, nil
		}
		return nil, fmt.Errorf("%w: '%s'", ErrAlreadyExists, arn)
	}
	_, err = e.cfg.Journal.Execution(ctx, arn)
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return nil, nil //nolint:nilnil // there is none, which is the usual case
	case err != nil:
		return nil, err
	}
	if same == nil && e.running(arn) != nil { // another call started it after the first look
		return e.existingRun(ctx, r)
	}
	return nil, fmt.Errorf("%w: '%s'", ErrAlreadyExists, arn)
}

// start returns the first signal of an execution.
func (r *run) start() interpreter.Signal {
	ev := interpreter.Signal{Kind: interpreter.Start}
	if r.x.Tokens() {
		ev.Secret = r.engine.secret()
	}
	return ev
}

// awaitStart waits until the start is durable.
func (r *run) awaitStart(ctx context.Context) (*Started, error) {
	if err := r.until(ctx, r.begun); err != nil {
		return nil, err
	}
	select {
	case <-r.done:
		if r.err != nil {
			return nil, r.err
		}
	default:
	}
	return &Started{ARN: r.record.ARN, At: r.record.Start, run: r}, nil
}

// wait waits for the end of the execution and returns its description.
func (r *run) wait(ctx context.Context) (*journal.Execution, error) {
	if err := r.until(ctx, r.done); err != nil {
		return nil, err
	}
	if r.err != nil {
		return nil, r.err
	}
	copied := r.record
	return &copied, nil
}

// until waits until a channel of the run is closed. It also returns when the engine is closed, because no worker
// closes the channel after that.
func (r *run) until(ctx context.Context, closed <-chan struct{}) error {
	select {
	case <-closed:
		return nil
	case <-ctx.Done():
		return ctxerr.Of(ctx)
	case <-r.engine.ctx.Done():
	}
	select {
	case <-closed: // just before
		return nil
	default:
		return ErrClosed
	}
}
