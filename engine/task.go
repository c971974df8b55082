package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"stepback/asl/jsonvalue"
	"stepback/engine/history"
	"stepback/engine/interpreter"
	"stepback/engine/plan"
)

// Task is one task for an integration to carry out.
type Task struct {
	// Execution is the ARN of the execution, State the name of the Task state, Attempt counts its runs from 0.
	Execution, State string
	Attempt          int64
	// Resource is the state's Resource; Parameters is the JSON text it is called with.
	Resource, Parameters string

	value jsonvalue.Value // the tree of Parameters, null when it is not at hand
}

// Value returns the tree of the parameters.
func (t *Task) Value() (jsonvalue.Value, error) {
	if !t.value.IsNull() {
		return t.value, nil
	}
	return jsonvalue.Parse(t.Parameters)
}

// Result is what a task came to: JSON text, with its tree where that is at hand. See interpreter.TextPayload and ParsedPayload.
type Result = *interpreter.Payload

// Integration carries out the tasks of one service. Invoke returns the result, or an error; a *TaskError says
// by which name the workflow sees it. The context ends when nobody waits for the answer any more.
type Integration interface {
	Invoke(ctx context.Context, t *Task) (Result, error)
}

// TaskError is a failure as the state machine sees it.
type TaskError struct {
	Name, Cause string
	// NoCause says that the failure has no cause at all, which differs from an empty one.
	NoCause bool
}

// Error implements error.
func (e *TaskError) Error() string { return e.Name + ": " + e.Cause }

// invoke starts a task.
func (r *run) invoke(id int64, call *interpreter.TaskCall) {
	e := r.engine
	ctx, cancel := r.cancellable(id)
	e.clock.Hold()
	e.tasks.Add(1)
	go func() {
		defer e.tasks.Done()
		defer e.clock.Release()
		defer cancel()
		r.deliver(r.outcome(ctx, id, call))
	}()
}

// outcome carries a task out and says what came of it.
func (r *run) outcome(ctx context.Context, id int64, call *interpreter.TaskCall) interpreter.Event {
	output, err := r.attempt(ctx, call)
	if err == nil {
		return interpreter.Event{Kind: interpreter.TaskSucceeded, ID: id, Output: output}
	}
	var t *TaskError
	if !errors.As(err, &t) {
		t = &TaskError{Name: plan.ErrTaskFailed, Cause: err.Error()}
	}
	f := history.NewFailure(t.Name, t.Cause)
	f.HasCause = !t.NoCause
	return interpreter.Event{Kind: interpreter.TaskFailed, ID: id, Failure: f}
}

// attempt calls the integration. A panic in one is reported as a failed task and takes nothing else down.
func (r *run) attempt(ctx context.Context, call *interpreter.TaskCall) (output Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.engine.log.Error("an integration panicked", "resource", call.Task.Resource, "panic", p, "stack", string(debug.Stack()))
			err = &TaskError{Name: plan.ErrTaskFailed, Cause: fmt.Sprintf("the integration for %s panicked: %v", call.Task.Resource, p)}
		}
	}()
	in := r.engine.integration(call.Task)
	if in == nil {
		return nil, &TaskError{Name: plan.ErrRuntime, Cause: "No integration for the resource " + call.Task.Resource + " is configured."}
	}
	return in.Invoke(ctx, &Task{
		Execution: r.record.ARN, State: call.State, Attempt: call.Attempt, Resource: call.Task.Resource, Parameters: call.Parameters,
		value: call.Value,
	})
}

func (e *Engine) integration(t *plan.Task) Integration {
	if t.Target == plan.Function {
		return e.cfg.Integrations["function"]
	}
	return e.cfg.Integrations[t.Service+":"+t.Action]
}
