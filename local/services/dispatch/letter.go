package dispatch

import (
	"time"

	"stepback/local/services/delivery"
)

// What a retry policy says when it says nothing, in EventBridge and in Scheduler.
const (
	DefaultAge      = 24 * time.Hour
	DefaultAttempts = 185
)

// Letter is a message, its target and what to do when that does not take it. It is kept as JSON.
type Letter struct {
	// ID tells letters apart. Accept draws it.
	ID string
	// To is the ARN of the target.
	To      string
	Message delivery.Message
	// Owner is what the owner needs for sending, such as the parameters of an HTTP request.
	Owner string `json:",omitempty"`
	// Original is the body that the dead-letter queue gets; empty means that of the message.
	Original string `json:",omitempty"`
	// Born is when the letter was accepted, in milliseconds since 1970.
	Born int64
	// Age is how many seconds the letter may get old, Attempts how often it may be tried again.
	Age      int64
	Attempts int
	// DeadLetters is the ARN of the queue for letters that were not taken; empty means that they are dropped.
	DeadLetters string `json:",omitempty"`
	// From is who delivers the letter.
	From delivery.Sender `json:",omitzero"`
	// Labels are attributes of the letter in the dead-letter queue, such as RULE_ARN and TARGET_ARN.
	Labels map[string]string `json:",omitempty"`

	// Failed is how often it has been tried in vain, Next when it is tried again, in milliseconds since 1970.
	Failed int   `json:",omitempty"`
	Next   int64 `json:",omitempty"`
	// Dead is what the dead-letter queue will be told, once the letter is on its way there.
	Dead *Death `json:",omitempty"`

	kept bool
}

// Death is why a letter was given up.
type Death struct{ Code, Message, Condition string }

// Later is the error of a letter that its target does not take before a time, which is no failure.
type Later struct{ At time.Time }

// Error implements error.
func (l *Later) Error() string { return "not before " + l.At.Format(time.RFC3339Nano) }
