package analysis

import (
	"time"

	"stepback/retry"
)

// Task is one visit of a Task state by one execution: its attempts and how they ended.
type Task struct {
	// Execution is the ARN or another name of the execution.
	Execution string
	// State is the state's name, Callee what the state calls, such as "lambda my-function".
	State, Callee string
	// Rules is the ID under which [Collector.Rules] was told the Retry blocks that the execution ran with; empty when
	// they are not known.
	Rules string
	// Closed tells that the execution was a child of a distributed Map: it waited for its turn.
	Closed bool
	// Attempts are in the order of their beginning; at least one.
	Attempts []Attempt
	// Ending is what came after the last attempt.
	Ending Ending
}

// Attempt is one attempt of a task.
type Attempt struct {
	// Start is when it was scheduled, End when it ended; End is zero for one that was under way at the end of the
	// record.
	Start, End time.Time
	// Error is the error name that it failed with; empty for a success and for one that was under way.
	Error string
	// Bytes is the size of what the callee was sent; 0 when it is not known.
	Bytes int
}

// Ending is what came after the last attempt of a task.
type Ending string

// The endings of a task.
const (
	// Done: the last attempt succeeded.
	Done Ending = "done"
	// GivenUp: the last attempt failed, and no other followed although the execution went on or failed for it.
	GivenUp Ending = "given-up"
	// Cut: it is not known what would have followed. The execution was stopped, timed out, was redriven, still runs, or
	// its history has a gap. A cut task is censored, not failed.
	Cut Ending = "cut"
)

// failed reports whether the attempt ended with an error.
func (a *Attempt) failed() bool { return a.Error != "" }

// lasted is how long the attempt took; 0 when it had not ended.
func (a *Attempt) lasted() time.Duration {
	if a.End.Before(a.Start) {
		return 0
	}
	return a.End.Sub(a.Start)
}

// deferred reports whether an error name is the answer of a function that did not call: the attempt says nothing of
// the callee.
func deferred(name string) bool {
	switch name {
	case retry.CircuitOpen, retry.RetryBudgetExhausted, retry.RetryNotWorthwhile:
		return true
	}
	return false
}
