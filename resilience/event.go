package resilience

import (
	"context"
	"time"

	"stepback/retry"
)

// EventKind is the kind of an [Event].
type EventKind uint8

// The kinds of events.
const (
	// AttemptEnded: one attempt is over; Err is nil if it succeeded.
	AttemptEnded EventKind = iota + 1
	// RetryScheduled: the attempt failed, and another one starts after Delay.
	RetryScheduled
	// HedgeStarted: the attempt is slow, and the operation was started once more in parallel.
	HedgeStarted
	// CallEnded: the call is over; Err is nil if it succeeded, else an [*Error]. It is the last event of a call.
	CallEnded
)

// String returns the kind's name in logs, such as "retry_attempt".
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

// Event reports one step of a call to an [Observer].
type Event struct {
	Kind    EventKind
	Service string
	// Attempt is the attempt's number, counted from 1; for CallEnded it is the number of attempts.
	Attempt int
	// MaxRetries is the number of retries that the applicable policy allows; 0 if no policy applies.
	MaxRetries int
	// Delay is the wait before the next attempt. It is set for RetryScheduled.
	Delay time.Duration
	// Budget is the number of tokens left after the budget has paid for the next attempt. It is set for RetryScheduled
	// if the executor's budget has a method Tokens() float64, as *budget.Budget does; nil otherwise.
	Budget *float64
	// Duration is the duration of the attempt, or of the whole call for CallEnded.
	Duration time.Duration
	// Err is the error. Classification is the error's class and name, and zero if the error was not recognised.
	Err            error
	Classification retry.Classification
}

// Observer receives the events of calls. Its methods run on the goroutines of callers, concurrently, so they must
// be quick.
type Observer interface {
	// Begin is called before anything else in a call. The context that it returns is passed to the operation and to
	// Observe.
	Begin(ctx context.Context, service string) context.Context
	// Observe is called for each event. Every call for which Begin was called ends with a CallEnded, even if the
	// operation panics.
	Observe(ctx context.Context, e Event)
}
