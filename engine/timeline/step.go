package timeline

import "stepback/engine/history"

// step is the meaning of an event for an attempt of a task.
type step uint8

const (
	elsewhere step = iota
	scheduled
	started
	submitted
	succeeded
	failed
)

func stepOf(t history.Type) step {
	switch t {
	case history.TaskScheduled, history.LambdaFunctionScheduled, history.ActivityScheduled:
		return scheduled
	case history.TaskStarted, history.LambdaFunctionStarted, history.ActivityStarted:
		return started
	case history.TaskSubmitted:
		return submitted
	case history.TaskSucceeded, history.LambdaFunctionSucceeded, history.ActivitySucceeded:
		return succeeded
	case history.TaskFailed, history.TaskTimedOut, history.TaskStartFailed, history.TaskSubmitFailed,
		history.LambdaFunctionFailed, history.LambdaFunctionTimedOut, history.LambdaFunctionScheduleFailed,
		history.LambdaFunctionStartFailed, history.ActivityFailed, history.ActivityTimedOut,
		history.ActivityScheduleFailed:
		return failed
	default:
		return elsewhere
	}
}
