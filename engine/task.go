package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/plan"
	"stepback/jsonvalue"
)

// Task is one task for an integration to carry out.
type Task struct {
	// Execution is the ARN of the execution, State the name of the Task state, Attempt counts its runs from 0.
	Execution, State string
	Attempt          int64
	// ID tells the tasks of an execution apart. A task that is carried out again after a crash has the one it had; the
	// tasks of TestState have none.
	ID int64
	// Resource is the state's Resource; Parameters is the JSON text it is called with.
	Resource, Parameters string
	// Service, Action and Pattern are the parts of an integration's Resource: "aws-sdk:s3", "getObject" and no pattern.
	Service, Action string
	Pattern         Pattern
	// RoleARN is the role of the task's Credentials, in whose account it is carried out; empty for that of the
	// execution.
	RoleARN string
	// MachineRoleARN is the role of the state machine, in which its tasks act; TestState's may have none.
	MachineRoleARN string
	// TraceHeader is the X-Ray trace that the execution belongs to, as StartExecution was given it; empty for none.
	TraceHeader string
	// Submission is what the service answered, as JSON text, when the job of a .sync task was submitted before a crash;
	// empty when it was not.
	Submission string

	value     jsonvalue.Value // the tree of Parameters, null when it is not at hand
	submitted func(Result)    // reports TaskSubmitted
}

// Value returns the tree of the parameters.
func (t *Task) Value() (jsonvalue.Value, error) {
	if !t.value.IsNull() {
		return t.value, nil
	}
	return jsonvalue.Parse(t.Parameters)
}

// Submitted reports that the job of a .sync task was accepted, with what the service answered. The task goes on: what
// Invoke returns is the job's end.
func (t *Task) Submitted(answer Result) {
	if t.submitted != nil {
		t.submitted(answer)
	}
}

// Integration carries out the tasks of one service. Invoke returns the result, or an error. Retriers and catchers see
// the error by the name that a *Failure has, or any other error with a method ErrorName() string; without, it is
// States.TaskFailed. The context ends when nobody waits for the answer any more.
type Integration interface {
	Invoke(ctx context.Context, t *Task) (Result, error)
}

// ParameterChecker is an Integration that can tell why the parameters of a task cannot be used at all. CheckParameters
// calls nothing, and it answers the same to the same task; its error is a *Failure whose name is States.Runtime. It
// may overlook what Invoke refuses.
type ParameterChecker interface {
	Integration
	CheckParameters(t *Task) error
}

// GivenUp reports whether the context of a task has ended because nobody waits for the task any more, so that what it
// has begun elsewhere may be stopped. When an engine closes, the contexts of its tasks end as well, but the next engine
// goes on with them.
func GivenUp(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(context.Cause(ctx), ErrClosed)
}

// invoke starts a task.
func (r *run) invoke(id int64, call *interpreter.TaskCall) {
	e := r.engine
	ctx, cancel := r.cancellable(id)
	ctx, work := e.clock.Begin(ctx, e.patience(call))
	e.dispatch(invocation{
		run: r, ctx: ctx, work: work, cancel: cancel, id: id, call: call, started: call.Started(),
		accepted: call.Submitted(),
	})
}

// leastPatience is what a busy machine may take for a task that does next to nothing.
const leastPatience = 5 * time.Second

// patience is how long a task may really take before virtual time goes on without it, 0 for ever. Nobody would wait
// longer than its TimeoutSeconds if time were real.
func (e *Engine) patience(call *interpreter.TaskCall) time.Duration {
	p := e.cfg.Patience
	if call.Timeout > 0 && p >= 0 {
		longest := max(call.Timeout, leastPatience)
		if p == 0 || p > longest {
			p = longest
		}
	}
	return max(p, 0)
}

// outcome carries a task out and says what came of it; nothing yet when it waits for its token. accepted tells that the
// request of a token task, or the job of a .sync task, was accepted before a crash.
func (r *run) outcome(ctx context.Context, id int64, call *interpreter.TaskCall, accepted bool) (interpreter.Signal,
	bool) {
	pattern := call.Task.Pattern
	if in := r.intercept(call); in != nil {
		return r.mocked(ctx, id, call, in), true
	}
	if pattern == plan.WaitForTaskToken && accepted {
		return interpreter.Signal{}, false
	}
	output, err := r.attempt(ctx, id, call, func(answer Result) {
		if accepted {
			return
		}
		accepted = true
		r.deliver(interpreter.Signal{Kind: interpreter.TaskSubmitted, ID: id, Output: answer})
	})
	e := interpreter.Signal{ID: id, Output: output}
	switch {
	case err == nil && pattern == plan.WaitForTaskToken:
		e.Kind = interpreter.TaskSubmitted
	case err == nil:
		e.Kind = interpreter.TaskSucceeded
	case !accepted && pattern != plan.RequestResponse:
		e.Kind, e.Failure = interpreter.TaskSubmitFailed, failureOf(err)
	default:
		e.Kind, e.Failure = interpreter.TaskFailed, failureOf(err)
	}
	return e, true
}

// failureOf is an integration's error as the state machine sees it.
func failureOf(err error) Failure {
	var named interface{ ErrorName() string }
	if !errors.As(err, &named) {
		return history.NewFailure(plan.ErrTaskFailed, err.Error())
	}
	f, ok := named.(*Failure)
	if !ok {
		return history.NewFailure(named.ErrorName(), err.Error())
	}
	cut := f.Cut()
	cut.SetName(cut.Name) // a task fails by a name, even if its integration gives none
	return cut
}

// attempt calls the integration. A panic in one is reported as a failed task and takes nothing else down.
func (r *run) attempt(ctx context.Context, id int64, call *interpreter.TaskCall,
	submitted func(Result)) (output Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.engine.log.Error("an integration panicked", "resource", call.Task.Resource, "panic", p, "stack",
				string(debug.Stack()))
			err = &Failure{Name: plan.ErrTaskFailed, Cause: fmt.Sprintf("the integration for %s panicked: %v",
				call.Task.Resource, p)}
		}
	}()
	in := r.engine.integration(call.Task)
	if in == nil {
		return nil, &Failure{Name: plan.ErrRuntime, Cause: "No integration for the resource " + call.Task.Resource +
			" is configured."}
	}
	t := r.task(call)
	t.ID, t.submitted = id, submitted
	return in.Invoke(ctx, t)
}

// unusable says why the parameters of a task cannot be used. Nobody asks of executions with mocked tasks, and a check
// that panics leaves the task to the call.
func (r *run) unusable(call *interpreter.TaskCall) (cause string) {
	checker, ok := r.engine.integration(call.Task).(ParameterChecker)
	if !ok || r.mocks != nil {
		return ""
	}
	defer func() {
		if p := recover(); p != nil {
			r.engine.log.Error("a check of parameters panicked", "resource", call.Task.Resource, "panic", p, "stack",
				string(debug.Stack()))
			cause = ""
		}
	}()
	var why *Failure
	if errors.As(checker.CheckParameters(r.task(call)), &why) {
		return why.Cause
	}
	return ""
}

// task is a call as integrations see it.
func (r *run) task(call *interpreter.TaskCall) *Task {
	t := taskOf(r.record.ARN, r.machine.RoleARN, call)
	t.TraceHeader = r.record.TraceHeader
	return t
}

func (e *Engine) integration(t *plan.Task) Integration {
	if t.Target == plan.Function {
		return e.cfg.Integrations.functions
	}
	return e.cfg.Integrations.Handler(t.Service, t.Action)
}
