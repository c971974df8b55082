package interpreter

import (
	"time"

	"stepback/engine/history"
	"stepback/engine/internal/plan"
)

// outcome is the way in which a task failed.
type outcome uint8

const (
	ended outcome = iota
	timedOut
	startFailed
	submitFailed
)

var failedTypes = [...][4]history.Type{
	plan.Integration: {history.TaskFailed, history.TaskTimedOut, history.TaskStartFailed, history.TaskSubmitFailed},
	plan.Function: {
		history.LambdaFunctionFailed, history.LambdaFunctionTimedOut,
		history.LambdaFunctionScheduleFailed, history.LambdaFunctionFailed,
	},
	plan.Activity: {
		history.ActivityFailed, history.ActivityTimedOut,
		history.ActivityScheduleFailed, history.ActivityFailed,
	},
}

func succeededType(t plan.Target) history.Type {
	if t == plan.Function {
		return history.LambdaFunctionSucceeded
	}
	return history.ActivitySucceeded
}

func wholeSeconds(d time.Duration) int64 { return int64(d / time.Second) }

func (x *Execution) writeScheduled(t *thread, call *TaskCall) {
	e := history.Event{Previous: t.last, Data: call.Parameters, More: &history.Details{
		TimeoutInSeconds: wholeSeconds(call.Timeout), HeartbeatInSeconds: wholeSeconds(call.Heartbeat),
		RoleARN: call.RoleARN,
	}}
	switch call.Task.Target {
	case plan.Function:
		e.Type = history.LambdaFunctionScheduled
		e.More.Resource = call.Task.Resource
	case plan.Activity:
		e.Type = history.ActivityScheduled
		e.More.Resource = call.Task.Resource
	default:
		e.Type = history.TaskScheduled
		e.More.Resource, e.More.ResourceType, e.More.Region = call.Task.HistoryResource(), call.Task.Service,
			x.machine.Region
	}
	t.last = x.emit(e)
}

func (x *Execution) writeStarted(t *thread, call *TaskCall, worker string) {
	e := history.Event{Previous: t.last}
	switch call.Task.Target {
	case plan.Function:
		e.Type = history.LambdaFunctionStarted
	case plan.Activity:
		e.Type = history.ActivityStarted
		e.Name = worker
	default:
		e.Type = history.TaskStarted
		e.More = call.Task.StartedDetails
	}
	t.last = x.emit(e)
}

// writeTask writes the event of a submitted call or of a task's success, both of which have an output.
func (x *Execution) writeTask(t *thread, call *TaskCall, typ history.Type, output string) {
	e := history.Event{Type: typ, Previous: t.last, Data: output}
	if call.Task.Target == plan.Integration {
		e.More = call.Task.StartedDetails
	}
	t.last = x.emit(e)
}

// taskEnded writes the event for a task that did not succeed.
func (x *Execution) taskEnded(t *thread, call *TaskCall, how outcome, f history.Failure) {
	m := &history.Details{Failure: f}
	if call.Task.Target == plan.Integration {
		m.Resource, m.ResourceType = call.Task.HistoryResource(), call.Task.Service
	}
	t.last = x.emit(history.Event{Type: failedTypes[call.Task.Target][how], Previous: t.last, More: m})
}
