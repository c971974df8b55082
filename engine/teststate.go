package engine

import (
	"context"
	"time"

	"stepback/engine/history"
	"stepback/engine/interpreter"
	"stepback/engine/plan"
)

// testLimit is how long the test of a state may take.
const testLimit = 5 * time.Minute

// State finds a state of the machine at any depth, or nil.
func (m *StateMachine) State(name string) *plan.State { return m.plan.Root.Find(name) }

// TestedState is how the test of a state ended.
type TestedState struct {
	Status interpreter.Status
	// Output is JSON text.
	Output string
	// Failure is that of a failed state.
	Failure history.Failure
}

// TestState runs a single state by itself, without keeping an execution. A task is answered by mock, or by the engine's
// integrations when mock is nil; a Wait state does not wait. What was seen is in the trial afterwards.
func (e *Engine) TestState(
	ctx context.Context, tr *interpreter.Trial, info interpreter.Info, mock func() interpreter.Event,
) (TestedState, error) {
	ctx, cancel := context.WithTimeout(ctx, testLimit)
	defer cancel()
	x := interpreter.NewTrial(tr, info)
	event := &interpreter.Event{Kind: interpreter.Start}
	var result interpreter.Result
	for event != nil && ctx.Err() == nil {
		event.At, event.Seed = e.clock.Now(), e.seeds.next()
		result.Reset()
		x.Step(event, &result)
		event = e.tested(ctx, info.ARN, tr, result.Effects, mock)
	}
	return TestedState{x.Status(), x.Output(), x.Failure()}, ctx.Err()
}

// tested carries out what a state under test asks for and returns what came of it.
func (e *Engine) tested(
	ctx context.Context, arn string, tr *interpreter.Trial, effects []interpreter.Effect, mock func() interpreter.Event,
) *interpreter.Event {
	for _, f := range effects {
		switch {
		case f.Kind == interpreter.InvokeTask:
			var ev interpreter.Event
			if mock != nil {
				ev = mock()
			} else {
				ev = e.testTask(ctx, arn, f.Task)
			}
			ev.ID = f.ID
			return &ev
		case f.Kind == interpreter.SetTimer && tr.State.Wait != nil:
			return &interpreter.Event{Kind: interpreter.TimerFired, ID: f.ID}
		}
	}
	return nil
}

// testTask calls the integration of a task under test.
func (e *Engine) testTask(ctx context.Context, arn string, call *interpreter.TaskCall) interpreter.Event {
	in := e.integration(call.Task)
	if in == nil {
		return interpreter.Event{Kind: interpreter.TaskFailed, Failure: history.NewFailure(
			plan.ErrRuntime, "No integration for the resource "+call.Task.Resource+" is configured.")}
	}
	output, err := in.Invoke(ctx, taskOf(arn, call))
	if err != nil {
		return interpreter.Event{Kind: interpreter.TaskFailed, Failure: failureOf(err)}
	}
	return interpreter.Event{Kind: interpreter.TaskSucceeded, Output: output}
}

// taskOf is a call as integrations see it.
func taskOf(arn string, call *interpreter.TaskCall) *Task {
	return &Task{
		Execution: arn, State: call.State, Attempt: call.Attempt, Resource: call.Task.Resource,
		Parameters: call.Parameters,
		Service:    call.Task.Service, Action: call.Task.Action, Pattern: call.Task.Pattern, RoleARN: call.RoleARN,
		Submission: call.Submission(), value: call.Value,
	}
}
