package dispatch

import (
	"encoding/json"
	"net/http"
	"time"

	"stepback/aws"
	"stepback/local/services/delivery"
	"stepback/local/services/lanes"
)

// The defaults of a retry policy, in EventBridge and in Scheduler.
const (
	DefaultAge      = 24 * time.Hour
	DefaultAttempts = 185
)

// Letter is a message with its target, and what to do if the target does not accept it. It is stored as JSON.
type Letter struct {
	// ID identifies the letter. Accept generates it.
	ID string
	// To is the ARN of the target.
	To      string
	Message delivery.Message
	// Owner holds the owner's data for delivering, such as the parameters of an HTTP request.
	Owner string `json:",omitempty"`
	// Original is the body for the dead-letter queue; empty means the message's body.
	Original string `json:",omitempty"`
	// Born is the time of acceptance, in milliseconds since 1970.
	Born int64
	// Age is the maximum age of the letter in seconds. Attempts is the maximum number of retries.
	Age      int64
	Attempts int
	// DeadLetters is the ARN of the queue for letters that were not accepted; empty means that they are dropped.
	DeadLetters string `json:",omitempty"`
	// From is the sender of the letter.
	From delivery.Sender `json:",omitzero"`
	// Labels are attributes of the letter in the dead-letter queue, such as RULE_ARN and TARGET_ARN.
	Labels map[string]string `json:",omitempty"`

	// Failed is the number of failed attempts. Next is the time of the next attempt, in milliseconds since 1970.
	Failed int   `json:",omitempty"`
	Next   int64 `json:",omitempty"`
	// Dead holds the reason for the dead-letter queue, once the letter is on its way there.
	Dead *Death `json:",omitempty"`

	size int64 // bytes of the JSON when the letter was accepted
}

// encode returns the letter as JSON.
func (l *Letter) encode() ([]byte, error) {
	text, err := json.Marshal(l)
	l.size = int64(len(text))
	return text, err
}

func decode(text []byte) (*Letter, error) {
	l := &Letter{size: int64(len(text))}
	return l, json.Unmarshal(text, l)
}

// FullError is returned if as many letters wait for a target, or for all targets, as may. It wraps the *aws.Error for
// clients, which may retry.
type FullError struct{ reached *lanes.FullError }

// Error implements error.
func (e *FullError) Error() string { return e.reached.Error() }

// Unwrap returns a ThrottlingException.
func (e *FullError) Unwrap() error {
	return &aws.Error{Code: "ThrottlingException", Status: http.StatusTooManyRequests,
		Message: "Too many messages wait to be delivered: " + e.Error() + "."}
}

// Death is the reason why a letter was given up. Code is EventBridge's code for the kind of error, Refusal the code of
// the target's own error; empty if the target gave none.
type Death struct {
	Code, Message, Condition string
	Refusal                  string `json:",omitempty"`
}

// Later is returned if the target does not accept a letter before a given time, which does not count as a failure.
type Later struct{ At time.Time }

// Error implements error.
func (l *Later) Error() string { return "not before " + l.At.Format(time.RFC3339Nano) }
