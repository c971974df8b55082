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
	// Execution is the ARN of the execution; State is the name of the Task state; Attempt counts its runs from 0.
	Execution, State string
	Attempt          int64
	// ID identifies the task within its execution. A task that is carried out again after a crash keeps its ID; the
	// tasks of TestState have none.
	ID int64
	// Resource is the state's Resource. Parameters is the JSON text of the task's parameters.
	Resource, Parameters string
	// Service, Action and Pattern are the parts of an integration's Resource: "aws-sdk:s3", "getObject" and no pattern.
	Service, Action string
	Pattern         Pattern
	// RoleARN is the role of the task's Credentials; the task runs in the role's account. If empty, it runs in the
	// execution's account.
	RoleARN string
	// MachineRoleARN is the role of the state machine, with which its tasks act. It may be empty for a task of
	// TestState.
	MachineRoleARN string
	// TraceHeader is the X-Ray trace of the execution, as passed to StartExecution; empty for none.
	TraceHeader string
	// Submission is the service's response as JSON text if the job of a .sync task was submitted before a crash;
	// otherwise it is empty.
	Submission string

	value     jsonvalue.Value // the tree of Parameters, null if not available
	submitted func(Result)    // reports TaskSubmitted
}

// Value returns the parameters as a tree.
func (t *Task) Value() (jsonvalue.Value, error) {
	if !t.value.IsNull() {
		return t.value, nil
	}
	return jsonvalue.Parse(t.Parameters)
}

// Submitted reports that the job of a .sync task was accepted, with the service's response. The task continues:
// Invoke returns the job's result.
func (t *Task) Submitted(answer Result) {
	if t.submitted != nil {
		t.submitted(answer)
	}
}

// Integration carries out the tasks of one service. Invoke returns the result or an error. The error name that the
// workflow sees is the name of a *Failure, or that of any other error with a method ErrorName() string; for all
// others it is States.TaskFailed. The context ends when the result is no longer needed.
type Integration interface {
	Invoke(ctx context.Context, t *Task) (Result, error)
}

// ParameterChecker is an Integration that can report whether the parameters of a task are unusable. CheckParameters
// calls nothing and always returns the same for the same task; its error is a *Failure whose name is States.Runtime.
// It may accept parameters that Invoke refuses.
type ParameterChecker interface {
	Integration
	CheckParameters(t *Task) error
}

// GivenUp reports whether the context of a task has ended because the task's result is no longer needed, so that
// work which the task has started elsewhere may be stopped. When an engine closes, the contexts of its tasks end as
// well; GivenUp is then false, because the next engine continues the tasks.
func GivenUp(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(context.Cause(ctx), ErrClosed)
}

// invoke starts a task.
func (r *run) invoke(id int64, call *interpreter.TaskCall) {
	e := r.engine
	ctx, cancel := r.cancellable(id)
	patience := patienceOf(e.cfg.Patience, call.Timeout)
	ctx, work := e.clock.Begin(ctx, patience)
	work.WhenLost(func() {
		e.overran(Overrun{Execution: r.record.ARN, State: call.State, Attempt: call.Attempt, Patience: patience})
	})
	e.dispatch(invocation{
		run: r, ctx: ctx, work: work, cancel: cancel, id: id, call: call, started: call.Started(),
		accepted: call.Submitted(),
	})
}

// Overrun is a task that took longer in real time than virtual time waits for it.
type Overrun struct {
	// Execution is the ARN of the execution; State is the name of the Task state; Attempt counts its runs from 0.
	Execution, State string
	Attempt          int64
	// Patience is the real time that has passed.
	Patience time.Duration
}

// String describes the overrun for the person who waits for the execution.
func (o Overrun) String() string {
	return fmt.Sprintf("the task of %s really took longer than %s, so virtual time continued without it", o.State, o.Patience)
}

func (e *Engine) overran(o Overrun) {
	e.log.Warn(o.String(), "execution", o.Execution, "state", o.State, "attempt", o.Attempt)
	if e.cfg.Overran != nil {
		e.cfg.Overran(o)
	}
}

// leastPatience is the time that a task which does next to nothing may take on a busy machine.
const leastPatience = 5 * time.Second

// patienceOf returns how long a task with a timeout (0 for none) may take in real time before virtual time continues
// without it; 0 means for ever. configured is Config.Patience. By default, a task with TimeoutSeconds gets that time or
// leastPatience, whichever is longer, because in real time the execution would not wait longer either.
func patienceOf(configured, timeout time.Duration) time.Duration {
	if configured == 0 && timeout > 0 {
		return max(timeout, leastPatience)
	}
	return max(configured, 0)
}

// outcome carries out a task and returns its result as a signal; it returns none yet if the task waits for its token.
// accepted is true if the request of a token task, or the job of a .sync task, was accepted before a crash.
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

// failureOf converts an integration's error to the failure that the state machine sees.
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

// attempt calls the integration. A panic in it is reported as a failed task and affects nothing else.
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
	in := r.engine.cfg.Integrations.ofTask(call.Task)
	if in == nil {
		return nil, &Failure{Name: plan.ErrRuntime, Cause: "No integration for the resource " + call.Task.Resource +
			" is configured."}
	}
	t := r.task(call)
	t.ID, t.submitted = id, submitted
	return in.Invoke(ctx, t)
}

// unusable returns why the parameters of a task cannot be used, or "" if they can. It does not check executions
// with mocked tasks. If the check panics, unusable returns "", so that the task is called.
func (r *run) unusable(call *interpreter.TaskCall) (cause string) {
	checker, ok := r.engine.cfg.Integrations.ofTask(call.Task).(ParameterChecker)
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

// task converts a call to the form that integrations get.
func (r *run) task(call *interpreter.TaskCall) *Task {
	t := taskOf(r.record.ARN, r.machine.RoleARN, call)
	t.TraceHeader = r.record.TraceHeader
	return t
}

// ofTask returns the integration for a task; nil if there is none.
func (m *Integrations) ofTask(t *plan.Task) Integration {
	if t.Target == plan.Function {
		return m.FunctionHandler()
	}
	return m.Handler(t.Service, t.Action)
}
