package engine

import (
	"context"
	"time"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/plan"
	"stepback/jsonvalue"
)

// testLimit is the maximum duration of a state's test.
const testLimit = 5 * time.Minute

// StateTest describes a single state to run by itself, and its simulated surroundings.
type StateTest struct {
	State *State
	// Machine, RoleARN and Region are those of the state machine that the state pretends to belong to.
	Machine, RoleARN, Region string
	// Info is the execution that the state pretends to run in; its Input is the state's input.
	Info Info
	// Context, if set, replaces the context object.
	Context *jsonvalue.Value
	// Variables is an object with the variables available to the state; null means none.
	Variables jsonvalue.Value
	// Retried is the number of retries that every retrier has already used.
	Retried int64
	// Items, if set, replaces the items that a Map state's ItemReader would read. ItemsPointer is true if Items
	// already is the value at the reader's ItemsPointer.
	Items        *jsonvalue.Value
	ItemsPointer bool
	// FailedIterations is the number of failed iterations of a Map state.
	FailedIterations int64
	// Result (JSON text) or Failure, if set, is used as the outcome of the state's work, which is then not done.
	// With neither, a task is carried out by its integration.
	Result  *string
	Failure *Failure
}

// TestedState is the outcome of a state's test, with the observed details.
type TestedState struct {
	Status Status
	// Output is JSON text.
	Output string
	// Failure is the failure of a failed state.
	Failure Failure
	// Next is the name of the state that would be entered next; empty if there is none.
	Next string
	// Stages are the JSON texts of the data-flow steps that were reached, by the names that TestState gives them,
	// such as afterInputPath.
	Stages map[string]string
	// The limits of a Map state; nil for a limit that it does not have.
	MaxConcurrency                                    *int64
	ToleratedFailureCount, ToleratedFailurePercentage *float64
	// Retrier and Catcher are the indexes of the retrier and the catcher that handle the error. Backoff is set if the
	// state would be retried after that delay. Caught is the error that the catcher handles.
	Retrier, Catcher *int
	Backoff          *time.Duration
	Caught           Failure
}

// TestState runs a single state by itself with the engine's clock and integrations, as StateTest.Run does.
func (e *Engine) TestState(ctx context.Context, t *StateTest) (*TestedState, error) {
	return t.Run(ctx, e.clock.Now, e.seeds.next, e.cfg.Integrations)
}

// Run runs the state by itself, without an engine and without storing an execution. A Wait state does not wait; one of
// five minutes or more fails with States.Timeout, as on AWS. now is the clock, and random draws 64 random bits, from
// which the random values of expressions follow. integrations call the service of a task without a Result and a
// Failure; nil has none, so that such a task fails with States.Runtime. The error is that of the context, which ends
// after five minutes at the latest.
func (t *StateTest) Run(
	ctx context.Context, now func() time.Time, random func() uint64, integrations *Integrations,
) (*TestedState, error) {
	ctx, cancel := context.WithTimeout(ctx, testLimit)
	defer cancel()
	tr := t.trial()
	x := interpreter.NewTrial(tr, interpreter.Machine{Name: t.Machine, RoleARN: t.RoleARN, Region: t.Region}, &t.Info)
	signal := &interpreter.Signal{Kind: interpreter.Start}
	var result interpreter.Result
	for signal != nil && ctx.Err() == nil {
		if at := now(); signal.At.Before(at) {
			signal.At = at
		}
		signal.Seed = random()
		result.Reset()
		x.Step(signal, &result)
		signal = t.perform(ctx, result.Effects, integrations)
	}
	out := &TestedState{
		Status: x.Status(), Output: x.Output(), Failure: x.Failure(), Next: tr.Next,
		Stages:                make(map[string]string, len(tr.Stages)),
		MaxConcurrency:        tr.MaxConcurrency,
		ToleratedFailureCount: tr.ToleratedFailureCount, ToleratedFailurePercentage: tr.ToleratedFailurePercentage,
		Retrier: tr.Retrier, Catcher: tr.Catcher, Backoff: tr.Backoff, Caught: tr.Caught,
	}
	for stage, text := range tr.Stages {
		out.Stages[string(stage)] = text
	}
	return out, ctx.Err()
}

// trial converts the test to the interpreter's form.
func (t *StateTest) trial() *interpreter.Trial {
	tr := &interpreter.Trial{
		State: t.State.compiled, Retried: t.Retried, Context: t.Context, Variables: t.Variables, Items: t.Items,
		ItemsPointer: t.ItemsPointer, Failure: t.Failure, FailedIterations: t.FailedIterations,
	}
	if t.Result != nil {
		tr.Result = jsonvalue.TextDocument(*t.Result)
	}
	return tr
}

// perform performs the effects of the state and returns the resulting signal. Of the timers of a Wait state, which are
// its own and the time limit of the execution, the earlier one fires at once, with the time for which it is set.
func (t *StateTest) perform(
	ctx context.Context, effects []interpreter.Effect, integrations *Integrations,
) *interpreter.Signal {
	var fired *interpreter.Signal
	for _, f := range effects {
		switch {
		case f.Kind == interpreter.InvokeTask:
			s := t.task(ctx, f.Task, integrations)
			s.ID = f.ID
			return &s
		case f.Kind == interpreter.SetTimer && t.State.compiled.Wait != nil && (fired == nil || f.At.Before(fired.At)):
			fired = &interpreter.Signal{Kind: interpreter.TimerFired, ID: f.ID, At: f.At}
		}
	}
	return fired
}

// task returns the outcome given for the task, or calls its integration.
func (t *StateTest) task(
	ctx context.Context, call *interpreter.TaskCall, integrations *Integrations,
) interpreter.Signal {
	switch {
	case t.Failure != nil:
		return interpreter.Signal{Kind: interpreter.TaskFailed, Failure: *t.Failure}
	case t.Result != nil:
		return interpreter.Signal{Kind: interpreter.TaskSucceeded, Output: jsonvalue.TextDocument(*t.Result)}
	}
	in := integrations.ofTask(call.Task)
	if in == nil {
		return interpreter.Signal{Kind: interpreter.TaskFailed, Failure: history.NewFailure(
			plan.ErrRuntime, "No integration for the resource "+call.Task.Resource+" is configured.")}
	}
	output, err := in.Invoke(ctx, taskOf(t.Info.ARN, t.RoleARN, call))
	if err != nil {
		return interpreter.Signal{Kind: interpreter.TaskFailed, Failure: failureOf(err)}
	}
	return interpreter.Signal{Kind: interpreter.TaskSucceeded, Output: output}
}

// taskOf converts a call to the form that integrations get.
func taskOf(arn, role string, call *interpreter.TaskCall) *Task {
	return &Task{
		Execution: arn, State: call.State, Attempt: call.Attempt, Resource: call.Task.Resource,
		Parameters: call.Parameters, Service: call.Task.Service, Action: call.Task.Action,
		Pattern: Pattern(call.Task.Pattern), RoleARN: call.RoleARN, MachineRoleARN: role,
		Submission: call.Submission(), value: call.Value,
	}
}
