package analysis

import (
	"time"

	"stepback/retry"
)

// Task is one visit of a Task state by one execution: its attempts and how they ended.
type Task struct {
	// Execution is the ARN or another unique name of the execution.
	Execution string
	// State is the state's name. Callee names the function or action that the state calls, such as "lambda
	// my-function".
	State, Callee string
	// Rules is the ID under which the execution's Retry blocks were registered with [Collector.Rules]; empty if they
	// are unknown.
	Rules string
	// MapRun is the ARN of the Map Run whose child the execution was; empty if it was none. A child has to wait for its
	// turn.
	MapRun string
	// Step is true for a step of a durable function, whose name is State.
	Step bool
	// Attempts are sorted by start; there is at least one.
	Attempts []Attempt
	// Ending classifies what followed the last attempt.
	Ending Ending
}

// Attempt is one attempt of a task.
type Attempt struct {
	// Start is the time at which the attempt was scheduled. End is the time at which it ended; zero if it had not
	// ended at the end of the record.
	Start, End time.Time
	// Error is the name of the error that it failed with; empty for a success and for an attempt that had not ended.
	Error string
	// Bytes is the size of the request to the callee; 0 if it is unknown.
	Bytes int
}

// Ending classifies what followed the last attempt of a task.
type Ending string

// The endings of a task.
const (
	// Done: the last attempt succeeded.
	Done Ending = "done"
	// GivenUp: the last attempt failed and no other one followed, although the execution continued or failed because
	// of it.
	GivenUp Ending = "given-up"
	// Cut: what would have followed is unknown, because the execution was stopped, timed out, was redriven or is
	// still running, or its history has a gap. A cut task is censored, not failed.
	Cut Ending = "cut"
)

// failed reports whether the attempt ended with an error.
func (a *Attempt) failed() bool { return a.Error != "" }

// lasted returns the duration of the attempt; 0 if it had not ended.
func (a *Attempt) lasted() time.Duration {
	if a.End.Before(a.Start) {
		return 0
	}
	return a.End.Sub(a.Start)
}

// deferred reports whether name is an error by which a function deferred its call. Such an attempt made no call, so
// it is no evidence about the callee.
func deferred(name string) bool {
	return retry.IsDeferral(name) || name == retry.RetryNotWorthwhile
}
