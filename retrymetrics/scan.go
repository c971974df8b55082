package retrymetrics

import (
	"sync"

	"stepback/engine/history"
)

// sink receives what happens to attempts, in the order of the history. An attempt is valid during the call; its state
// is empty if the events do not contain it.
type sink interface {
	attempted(a *history.Attempt)       // an attempt begins
	retried(a *history.Attempt)         // it is a retry
	succeeded(a *history.Attempt)       // an attempt succeeds
	recovered(a *history.Attempt)       // it is a retry
	failed(a *history.Attempt)          // an attempt fails
	ended(a *history.Attempt, cut bool) // the failure is not retried; cut is true if the history ends with it
}

// count sends the change that one event made to a sink.
func count(s sink, c history.Change) {
	if c.Left != nil && c.Left.Failed() {
		s.ended(c.Left, false)
	}
	a := c.Attempt
	if a == nil {
		return
	}
	if c.Begins {
		s.attempted(a)
		if a.Retry() {
			s.retried(a)
		}
	}
	switch a.Step { //nolint:exhaustive // only ends are counted
	case history.StepSucceeded:
		s.succeeded(a)
		if a.Retry() {
			s.recovered(a)
		}
	case history.StepFailed:
		s.failed(a)
	}
}

// cutOff sends failures without a following event to a sink, at the end of a history.
func cutOff(s sink, r *history.AttemptReader) {
	for a := range r.Open() {
		if a.Failed() {
			s.ended(a, true)
		}
	}
}

var readers = sync.Pool{New: func() any { return new(history.AttemptReader) }}

// scan processes one whole history. It allocates nothing for a history without a failure, which is the usual case.
func scan(s sink, events []history.Event) {
	r := readers.Get().(*history.AttemptReader)
	for i := range events {
		count(s, r.Read(&events[i]))
	}
	cutOff(s, r)
	r.Reset()
	readers.Put(r)
}
