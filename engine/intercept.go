package engine

import (
	"context"
	"errors"
	"fmt"

	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/plan"
)

// Interceptor can run the tasks of an execution, and of its Map Runs' child executions, in place of their
// integrations, functions and activity workers. If it runs a task, the task is complete when Invoke returns,
// whatever the task's pattern.
type Interceptor interface {
	// Intercept returns the Integration that runs a task in place of its own, or nil if the task is not
	// intercepted. It is called once for each attempt.
	Intercept(t *Task) Integration
}

// Fitting is an Interceptor that knows for which state machines it is meant. If Fits returns an error, the
// execution is not started. Otherwise, if a mock named a state that does not exist, the state it was meant for
// would call its service.
type Fitting interface {
	// Fits returns an error if the interceptor cannot be meant for a state machine with this definition.
	Fits(definition string) error
}

// ErrTestCase is returned if an execution cannot be started for the requested test case.
var ErrTestCase = errors.New("no such test case")

// interceptorFor returns the Interceptor of an execution.
func (e *Engine) interceptorFor(machine, testCase string) (Interceptor, error) {
	if testCase == "" {
		return nil, nil //nolint:nilnil // nothing is mocked
	}
	if e.cfg.Mocks == nil {
		return nil, fmt.Errorf("%w: no mock configuration is loaded", ErrTestCase)
	}
	mocks, err := e.cfg.Mocks(machine, testCase)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTestCase, err)
	}
	return mocks, nil
}

// intercept returns the Integration that runs a task in place of its own, or nil if the task is not intercepted.
func (r *run) intercept(call *interpreter.TaskCall) Integration {
	if r.mocks == nil {
		return nil
	}
	return r.mocks.Intercept(r.task(call))
}

// mocked runs an intercepted task. The task's history is the same as that of a real one: a task that waits for a
// job or a token has submitted its request, and an activity task has a worker.
func (r *run) mocked(ctx context.Context, id int64, call *interpreter.TaskCall, in Integration) interpreter.Signal {
	if call.Task.Target == plan.Activity {
		r.deliver(interpreter.Signal{Kind: interpreter.TaskScheduled, ID: id})
		r.deliver(interpreter.Signal{Kind: interpreter.TaskStarted, ID: id})
	}
	output, err := in.Invoke(ctx, r.task(call))
	if err != nil {
		return interpreter.Signal{Kind: interpreter.TaskFailed, ID: id, Failure: failureOf(err)}
	}
	if call.Task.Pattern != plan.RequestResponse {
		r.deliver(interpreter.Signal{Kind: interpreter.TaskSubmitted, ID: id, Output: output})
	}
	return interpreter.Signal{Kind: interpreter.TaskSucceeded, ID: id, Output: output}
}
