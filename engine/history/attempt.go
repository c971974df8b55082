package history

import (
	"strings"
	"time"
)

// Attempt is one attempt of a task. It begins with a Scheduled event, and ends with the event of a success or a
// failure.
type Attempt struct {
	// State is the name of the task's state. Entered is the ID of the event that entered the state. They are zero
	// if the history does not contain the entry.
	State   string
	Entered int64
	// Number counts the attempts of a task from 1. It starts again at a redrive, because all retries are available
	// again, and after a failed evaluation of the task's output. It is 0 if the beginning of the task is unknown.
	Number int
	// Redrive counts the redrives of the execution before the attempt.
	Redrive int64
	// Task is the kind of task.
	Task Task
	// Call holds the resource of the Scheduled event, and Input its parameters. They are nil and "" if that event
	// is unknown.
	Call  *Details
	Input string
	// Scheduled, Started and Ended are the events with which the attempt began, was taken and ended. Each is zero
	// if this has not happened, or if the event is unknown. An attempt that could not even be scheduled begins and
	// ends with the same event.
	Scheduled, Started, Ended Moment
	// Step is the latest step. The attempt is in progress until Step is StepSucceeded or StepFailed.
	Step Step
	// TimedOut is true if the attempt failed because of the state's own timeout or heartbeat.
	TimedOut bool
	// Failure holds the error and cause of the event that failed the attempt. It is zero if the attempt has not
	// failed.
	Failure Failure
	// Output is the result of a success, as JSON text.
	Output string
	// RetryOf is the failure that the attempt retries; its ID is 0 if the attempt is no retry.
	RetryOf Retried
}

// Moment is an event's ID and its time, in nanoseconds since 1970-01-01 UTC. The zero value means no event.
type Moment struct{ ID, Time int64 }

// At returns the time in UTC; the zero time for the zero Moment.
func (m Moment) At() time.Time {
	if m.ID == 0 {
		return time.Time{}
	}
	return time.Unix(0, m.Time).UTC()
}

// Retried is a failed attempt that was followed by another one.
type Retried struct {
	Moment
	Error string
}

// Retry reports whether the attempt follows a failed one.
func (a *Attempt) Retry() bool { return a.RetryOf.ID != 0 }

// Wait returns the time between the failure and this retry; 0 for a first attempt.
func (a *Attempt) Wait() time.Duration {
	if !a.Retry() {
		return 0
	}
	return time.Duration(a.Scheduled.Time - a.RetryOf.Time)
}

// Failed reports whether the attempt ended without a result.
func (a *Attempt) Failed() bool { return a.Step == StepFailed }

// Over reports whether the attempt has ended.
func (a *Attempt) Over() bool { return a.Step == StepSucceeded || a.Step == StepFailed }

// Change reports what one event changed.
type Change struct {
	// Attempt is the attempt that the event begins, advances or ends; nil for other events. Begins is true if the
	// event begins the attempt. If an attempt's Scheduled event is unknown, the attempt appears when it ends, and
	// Begins is never true for it.
	Attempt *Attempt
	Begins  bool
	// Left is the latest attempt of a task, if the event is the first one after the task: the attempt succeeded,
	// its failure is not retried, or the task was given up. It is nil for other events.
	Left *Attempt
}

func underWay(a *Attempt) bool { return a != nil && a.Step != NoStep && !a.Over() }

func moment(e *Event) Moment { return Moment{e.ID, e.Time} }

// retries reports whether an event that ends an attempt of a step of a durable execution announces another attempt.
func (e *Event) retries() bool { return strings.Contains(e.Data, `"NextAttemptDelaySeconds":`) }

func (a *Attempt) fail(e *Event) {
	a.Step, a.Ended, a.TimedOut = StepFailed, moment(e), e.Type.TimedOut()
	if e.More != nil {
		a.Failure = e.More.Failure
	}
}
