package eventqueue

import (
	"errors"
	"fmt"
	"time"

	"stepback/aws"
	"stepback/tasks/lambda/invocation"
)

// The defaults of a Handling, which are also Lambda's maximums.
const (
	DefaultRetries = 2
	DefaultMaxAge  = 6 * time.Hour
)

// ErrPaused is returned for an invocation of a function whose reserved concurrency is 0.
var ErrPaused = errors.New("the function may not run")

// Event is an asynchronous invocation. All fields except Payload are stored as JSON.
type Event struct {
	// ID is the request ID, the same for all attempts. Accept sets it.
	ID string
	// Scope, Function and Version identify the function to invoke. InvokedARN is the ARN used in the request.
	Scope             aws.Scope
	Function, Version string
	InvokedARN        string
	// ClientContext is the client context that the caller passes with the event, as JSON.
	ClientContext []byte `json:",omitempty"`
	// Trace is the trace header of the request.
	Trace string `json:",omitempty"`
	Handling
	// Accepted is the time at which the event was accepted. Next is the time of the next attempt. Both are in
	// milliseconds since 1970.
	Accepted int64
	Next     int64 `json:",omitempty"`
	// Attempts counts the invocations. Delays counts the attempts that were throttled or failed in the service.
	Attempts int `json:",omitempty"`
	Delays   int `json:",omitempty"`
	// Size is the size of the payload in bytes.
	Size int
	// End describes how the event ended. It is kept until every destination has been notified.
	End *End `json:",omitempty"`

	// Payload is the event itself, as JSON. It is stored separately.
	Payload []byte `json:"-"`
}

// Handling determines how often an event is retried, and where its result is sent. It is fixed when the event is
// accepted.
type Handling struct {
	// Retries is the number of times that the function is retried after an error, 0 to 2.
	Retries int
	// MaxAge is the age, in milliseconds, after which an event is not retried any more.
	MaxAge int64
	// ARN is the ARN of the invoked version, for invocation records.
	ARN string
	// OnSuccess and OnFailure are the ARNs of destinations; DeadLetters is the ARN of a queue or topic. Empty means
	// none.
	OnSuccess   string `json:",omitempty"`
	OnFailure   string `json:",omitempty"`
	DeadLetters string `json:",omitempty"`
}

// Condition describes how an asynchronous invocation ended, as in Lambda's invocation records.
type Condition string

// The conditions.
const (
	Success          Condition = "Success"
	RetriesExhausted Condition = "RetriesExhausted"
	EventAgeExceeded Condition = "EventAgeExceeded"
	// ZeroReservedConcurrency means that the function's reserved concurrency is 0.
	ZeroReservedConcurrency Condition = "ZeroReservedConcurrency"
)

// End describes how an event ended.
type End struct {
	Condition Condition
	// Answer is the response of the last attempt; nil if there was none.
	Answer *invocation.Answer `json:",omitempty"`
	// Recorded is true once the destination needs no further notification. Buried is true once the dead-letter
	// queue needs none.
	Recorded, Buried bool `json:",omitempty"`
	// At is the time at which the event ended, in milliseconds since 1970. Failed counts the failed notifications.
	At     int64
	Failed int `json:",omitempty"`
}

// key returns the store key of an event. Keys sort by time of acceptance.
func (e *Event) key() string { return fmt.Sprintf("%013d/%s", e.Accepted, e.ID) }

// retryWait returns the delay after a number of failed attempts.
func retryWait(attempts int) time.Duration { return time.Duration(attempts) * time.Minute }

// delayWait returns the delay after a number of throttles: from one second to five minutes.
func delayWait(delays int) time.Duration {
	const longest, doublings = 5 * time.Minute, 9
	return min(time.Second<<min(delays, doublings), longest)
}
