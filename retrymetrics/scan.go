package retrymetrics

import (
	"sync"

	"stepback/engine/history"
)

// sink receives what happens to attempts, in the order of the history, and the time of the event that reports it, in
// nanoseconds since 1970. An attempt is valid during the call; its state is empty if the events do not contain it.
//
// Everything is counted at the time of the event that decides it. A failure after which an execution is stopped an
// hour later, for example, is given up at the time of the stop. So what was counted before a time never depends on
// later events, and events from that time on can be counted again without counting anything twice.
type sink interface {
	attempted(a *history.Attempt, at int64)       // an attempt begins
	retried(a *history.Attempt, at int64)         // it is a retry
	succeeded(a *history.Attempt, at int64)       // an attempt succeeds
	recovered(a *history.Attempt, at int64)       // it is a retry
	failed(a *history.Attempt, at int64)          // an attempt fails
	ended(a *history.Attempt, cut bool, at int64) // the failure is not retried; cut is true if the execution ended
	// terminal reports the end of the execution. failure is the name of the error with which it failed.
	terminal(end history.Type, failure string, at int64)
	// inTime reports whether a child execution met the objective; see punctual.
	inTime(late bool, at int64)
	flush() // makes the counts so far visible
}

// count sends the change that one event made to a sink.
func count(s sink, c history.Change, at int64) {
	if c.Left != nil && c.Left.Failed() {
		s.ended(c.Left, false, at)
	}
	a := c.Attempt
	if a == nil {
		return
	}
	if c.Begins {
		s.attempted(a, at)
		if a.Retry() {
			s.retried(a, at)
		}
	}
	switch a.Step { //nolint:exhaustive // only ends are counted
	case history.StepSucceeded:
		s.succeeded(a, at)
		if a.Retry() {
			s.recovered(a, at)
		}
	case history.StepFailed:
		s.failed(a, at)
	}
}

// cutOff sends the failures that no event followed to a sink, at the end of an execution. Failures from before a
// redrive were sent at the end before it.
func cutOff(s sink, r *history.AttemptReader, at int64) {
	for a := range r.Open() {
		if a.Failed() && a.Redrive == r.Redrives() {
			s.ended(a, true, at)
		}
	}
}

var readers = sync.Pool{New: func() any { return new(history.AttemptReader) }}

// failureName returns the name of the error in an event.
func failureName(e *history.Event) string {
	if e.More == nil {
		return ""
	}
	return e.More.Failure.Name
}
