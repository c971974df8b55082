package deadletters

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

// State is where a letter stands.
type State string

// The states of a letter.
const (
	Dead      State = "dead"      // it waits for a person
	Underway  State = "underway"  // it is being delivered, again after a redrive
	Delivered State = "delivered" // it has arrived
	Discarded State = "discarded" // a person decided that it will not be delivered
)

// Kind is what sort of thing could not be delivered.
type Kind string

// The kinds of letters.
const (
	KindOutbox Kind = "outbox" // a message of an outbox
	KindRow    Kind = "row"    // a row of a CSV import
	KindItem   Kind = "item"   // a child execution of a Map Run, with its item or its batch of items
	KindEvent  Kind = "event"  // an event for which no execution could be started
	KindQueue  Kind = "queue"  // a message in a dead-letter queue of Amazon SQS
)

// Letter is something that could not be delivered.
type Letter struct {
	ID        string // by which the receiver, too, knows it
	Kind      Kind
	State     State
	Subject   string // what it is about: a topic, a file, a state
	Key       string // what it is ordered by; may be empty
	Reason    string // why it is dead, such as invalid_payload or retries_exhausted
	Error     string // name of the last error
	Cause     string // text of the last error
	Attempts  int    // that failed, since it was written or redriven
	Redrives  int
	Execution string // ARN of the execution it comes from; may be empty
	Trace     string // W3C traceparent; may be empty

	CreatedAt     time.Time
	LastAttemptAt time.Time // zero where there was none
	DeadAt        time.Time // zero where it is not dead
	NextAttemptAt time.Time // zero where none is planned, or it is due at once

	ContentType string
	Headers     map[string]string
	Payload     []byte // as it was written
	Edited      []byte // what is sent instead; nil where nobody edited it
}

// Sent is the payload that the next attempt sends.
func (l *Letter) Sent() []byte {
	if l.Edited != nil {
		return l.Edited
	}
	return l.Payload
}

// MarshalJSON writes a letter as scripts read it: times in RFC 3339, payloads as JSON where they are JSON, else as
// text, else in base64.
func (l *Letter) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		ID            string            `json:"id"`
		Kind          Kind              `json:"kind,omitempty"`
		State         State             `json:"state"`
		Subject       string            `json:"subject,omitempty"`
		Key           string            `json:"key,omitempty"`
		Reason        string            `json:"reason,omitempty"`
		Error         string            `json:"error,omitempty"`
		Cause         string            `json:"cause,omitempty"`
		Attempts      int               `json:"attempts"`
		Redrives      int               `json:"redrives"`
		Execution     string            `json:"execution,omitempty"`
		Trace         string            `json:"traceparent,omitempty"`
		CreatedAt     *time.Time        `json:"createdAt,omitempty"`
		LastAttemptAt *time.Time        `json:"lastAttemptAt,omitempty"`
		DeadAt        *time.Time        `json:"deadAt,omitempty"`
		NextAttemptAt *time.Time        `json:"nextAttemptAt,omitempty"`
		ContentType   string            `json:"contentType,omitempty"`
		Headers       map[string]string `json:"headers,omitempty"`
		Payload       any               `json:"payload,omitempty"`
		Edited        any               `json:"editedPayload,omitempty"`
	}{
		l.ID, l.Kind, l.State, l.Subject, l.Key, l.Reason, l.Error, l.Cause, l.Attempts, l.Redrives, l.Execution,
		l.Trace,
		orNone(l.CreatedAt), orNone(l.LastAttemptAt), orNone(l.DeadAt), orNone(l.NextAttemptAt),
		l.ContentType, l.Headers, readable(l.Payload), readable(l.Edited),
	})
}

func orNone(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// readable is a payload as a value of JSON.
func readable(payload []byte) any {
	switch {
	case payload == nil:
		return nil
	case json.Valid(payload):
		return json.RawMessage(payload)
	case utf8.Valid(payload):
		return string(payload)
	}
	return map[string][]byte{"base64": payload}
}

// Group are letters that died of the same thing.
type Group struct {
	Kind    Kind      `json:"kind,omitempty"`
	Reason  string    `json:"reason"`
	Error   string    `json:"error"`
	Subject string    `json:"subject"`
	Count   int64     `json:"count"`
	Oldest  time.Time `json:"oldest"` // when the first of them died
	Newest  time.Time `json:"newest"`
	Sample  string    `json:"sample"` // the ID of one of them
}

// Filter chooses dead letters. Empty members choose all.
type Filter struct {
	Kind                        Kind
	Reason, Error, Subject, Key string
	Execution                   string    // name or ARN of the execution that letters come from
	Since, Until                time.Time // of the time they died, from Since on and before Until
}

// Takes tells whether a dead letter is one of those that the filter chooses.
func (f *Filter) Takes(l *Letter) bool {
	for _, want := range [][2]string{
		{string(f.Kind), string(l.Kind)}, {f.Reason, l.Reason}, {f.Error, l.Error}, {f.Subject, l.Subject},
		{f.Key, l.Key},
	} {
		if want[0] != "" && want[0] != want[1] {
			return false
		}
	}
	if f.Execution != "" && f.Execution != l.Execution && !strings.HasSuffix(l.Execution, ":"+f.Execution) {
		return false
	}
	return (f.Since.IsZero() || !l.DeadAt.Before(f.Since)) && (f.Until.IsZero() || l.DeadAt.Before(f.Until))
}

// Query asks for a page of dead letters, the oldest first.
type Query struct {
	Filter
	After string // the Next of the page before; empty for the first
	Limit int    // 1 or more
}

// Page is a part of a list.
type Page struct {
	Letters []Letter
	Next    string // to be asked for next; empty after the last page
}

// Verb is what an operator did.
type Verb string

// The acts.
const (
	VerbEdit    Verb = "edit"
	VerbRedrive Verb = "redrive"
	VerbDiscard Verb = "discard"
)

// Act is what an operator did to a letter.
type Act struct {
	At     time.Time       `json:"at"`
	Who    string          `json:"who"`
	Verb   Verb            `json:"act"`
	ID     string          `json:"id"`
	Reason string          `json:"reason,omitempty"`
	Before json.RawMessage `json:"before"` // what the act changed, as it was: a Snapshot
	After  json.RawMessage `json:"after"`
}

// Snapshot is what an act changes of a letter.
type Snapshot struct {
	Status   string `json:"status,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Error    string `json:"error,omitempty"`
	Attempts *int   `json:"attempts,omitempty"`
	Payload  any    `json:"payload,omitempty"`
}

// WithPayload is a snapshot of a payload.
func WithPayload(payload []byte) Snapshot { return Snapshot{Payload: readable(payload)} }

// JSON is the snapshot as acts keep it.
func (s Snapshot) JSON() json.RawMessage {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings and numbers, and JSON that was found valid
	}
	return text
}
