package resilience

import (
	"context"
	"time"

	"stepback/retry"
)

// EventKind says what happened to a call.
type EventKind uint8

// The kinds of events.
const (
	// AttemptEnded: one attempt is over; Err is nil if it succeeded.
	AttemptEnded EventKind = iota + 1
	// RetryScheduled: the attempt failed, and after Delay there will be another one.
	RetryScheduled
	// HedgeStarted: the attempt takes long, and the operation was started once more beside it.
	HedgeStarted
	// CallEnded: the call is over; Err is nil if it succeeded, else an [*Error]. It is the last event of a call.
	CallEnded
)

// String is the kind's name in logs, such as "retry_attempt".
func (k EventKind) String() string {
	switch k {
	case AttemptEnded:
		return "attempt_ended"
	case RetryScheduled:
		return "retry_attempt"
	case HedgeStarted:
		return "hedge_started"
	case CallEnded:
		return "call_ended"
	default:
		return "unknown"
	}
}

// Event is one thing that happened to a call.
type Event struct {
	Kind    EventKind
	Service string
	// Attempt counts from 1; for CallEnded it is how many there were.
	Attempt int
	// MaxRetries is what the policy that applies allows; 0 when none does.
	MaxRetries int
	// Delay is the wait before the next attempt, for RetryScheduled.
	Delay time.Duration
	// Duration is how long the attempt, or for CallEnded the whole call, took.
	Duration time.Duration
	// Err is what went wrong, and Classification what it was recognised as (zero when it was not).
	Err            error
	Classification retry.Classification
}

// Observer is told what happens to calls, on the caller's goroutine: it must be quick. Many goroutines use it at once.
type Observer interface {
	// Begin is called before anything else of a call. The context that it returns goes to the operation and to the
	// call's events.
	Begin(ctx context.Context, service string) context.Context
	// Observe is called for each event. A call that Begin was told of always has a CallEnded, also when the operation
	// panics.
	Observe(ctx context.Context, e Event)
}
