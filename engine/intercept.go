package engine

import (
	"context"
	"errors"
	"fmt"

	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/plan"
)

// Interceptor may carry out the tasks of one execution and of its Map Runs' child executions in place of their
// integrations, of their functions and of the workers of their activities. What it carries out is over when Invoke
// returns, whatever the task's pattern is.
type Interceptor interface {
	// Intercept returns what carries out a task instead, or nil. It is called once for each attempt.
	Intercept(t *Task) Integration
}

// Fitting is an Interceptor that knows which machines it fits. An execution is not started when Fits fails, so that a
// mock of a state that is not there does not let the state's task call its service.
type Fitting interface {
	// Fits returns why the interceptor cannot be meant for a machine of this definition, or nil.
	Fits(definition string) error
}

// ErrTestCase says that an execution cannot be started for the test case that was asked for.
var ErrTestCase = errors.New("no such test case")

// mocks finds what intercepts the tasks of an execution.
func (e *Engine) mocks(machine, testCase string) (Interceptor, error) {
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

// intercept returns what carries out a task in place of its integration; nil when nothing does.
func (r *run) intercept(call *interpreter.TaskCall) Integration {
	if r.mocks == nil {
		return nil
	}
	return r.mocks.Intercept(r.task(call))
}

// mocked carries an intercepted task out. Its history is that of a real one: what waits for a job or for a token has
// submitted its request, and an activity has a worker.
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
