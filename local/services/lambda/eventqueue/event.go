package eventqueue

import (
	"errors"
	"fmt"
	"time"

	"stepback/aws"
	"stepback/tasks/lambda/invocation"
)

// Defaults of a Handling, which are the most that Lambda has.
const (
	DefaultRetries = 2
	DefaultMaxAge  = 6 * time.Hour
)

// ErrPaused is the error of an invocation of a function whose reserved concurrency is 0.
var ErrPaused = errors.New("the function may not run")

// Event is an asynchronous invocation. All but its payload is kept as JSON.
type Event struct {
	// ID is the request's, the same for all attempts. Accept draws it.
	ID string
	// Scope, Function and Version say which function is invoked, InvokedARN as what it was asked for.
	Scope             aws.Scope
	Function, Version string
	InvokedARN        string
	// ClientContext is what the caller passes beside the event, as JSON.
	ClientContext []byte `json:",omitempty"`
	// Trace is the trace header that the event came with.
	Trace string `json:",omitempty"`
	Handling
	// Accepted is when the event was taken, Next when it is tried again, in milliseconds since 1970.
	Accepted int64
	Next     int64 `json:",omitempty"`
	// Attempts counts the invocations, Delays those that were throttled or failed in the service.
	Attempts int `json:",omitempty"`
	Delays   int `json:",omitempty"`
	// Size is that of the payload, in bytes.
	Size int
	// End is how the event ended, while not everybody knows who is to be told.
	End *End `json:",omitempty"`

	// Payload is the event itself, JSON. It is kept beside.
	Payload []byte `json:"-"`
}

// Handling says what becomes of an event that fails, and who is told how it ended. It is what was set when the event
// was accepted.
type Handling struct {
	// Retries is how often the function is tried again after an error, 0 to 2.
	Retries int
	// MaxAge is how many milliseconds old the event may be when it is tried again.
	MaxAge int64
	// ARN is that of the version that runs, for records.
	ARN string
	// OnSuccess and OnFailure are the ARNs of destinations, DeadLetters that of a queue or topic; empty for none.
	OnSuccess   string `json:",omitempty"`
	OnFailure   string `json:",omitempty"`
	DeadLetters string `json:",omitempty"`
}

// Condition is how an asynchronous invocation ended, as Lambda's records name it.
type Condition string

// The conditions.
const (
	Success          Condition = "Success"
	RetriesExhausted Condition = "RetriesExhausted"
	EventAgeExceeded Condition = "EventAgeExceeded"
	// ZeroReservedConcurrency says that the function may not run at all.
	ZeroReservedConcurrency Condition = "ZeroReservedConcurrency"
)

// End is how an event ended.
type End struct {
	Condition Condition
	// Answer is that of the last attempt; nil when there was none.
	Answer *invocation.Answer `json:",omitempty"`
	// Recorded and Buried say that the destination and the queue for dead letters need not be told any more.
	Recorded, Buried bool `json:",omitempty"`
	// At is when it ended, in milliseconds since 1970; Failed is how often telling has failed.
	At     int64
	Failed int `json:",omitempty"`
}

// key is how an event is kept: in the order of acceptance.
func (e *Event) key() string { return fmt.Sprintf("%013d/%s", e.Accepted, e.ID) }

// retryWait is how long to wait after a number of attempts that failed.
func retryWait(attempts int) time.Duration { return time.Duration(attempts) * time.Minute }

// delayWait is how long to wait after a number of throttles: from one second to five minutes.
func delayWait(delays int) time.Duration {
	const longest, doublings = 5 * time.Minute, 9
	return min(time.Second<<min(delays, doublings), longest)
}
