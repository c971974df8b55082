package deadletters

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

// State is the state of a letter.
type State string

// The states of a letter.
const (
	Dead      State = "dead"      // it needs attention
	Underway  State = "underway"  // it is being delivered, also after a redrive
	Delivered State = "delivered" // it has arrived
	Discarded State = "discarded" // an operator decided not to deliver it
)

// Kind is the kind of thing that could not be delivered.
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
	ID        string // the receiver knows it by the same ID
	Kind      Kind
	State     State
	Subject   string // what it is about: a topic, a file, a state
	Key       string // ordering key; may be empty
	Reason    string // why it is dead, such as invalid_payload or retries_exhausted
	Error     string // name of the last error
	Cause     string // text of the last error
	Attempts  int    // failed attempts since it was written or redriven
	Redrives  int
	Execution string // ARN of the execution it comes from; may be empty
	Trace     string // W3C traceparent; may be empty

	CreatedAt     time.Time
	LastAttemptAt time.Time // zero if there was none
	DeadAt        time.Time // zero if it is not dead
	NextAttemptAt time.Time // zero if none is planned, or it is due at once

	// Undecided is true for a dead letter whose last delivery ended without deciding it, so that it may have arrived.
	// Redriving it resumes that delivery. Until then it can be neither edited nor discarded.
	Undecided bool

	ContentType string
	Headers     map[string]string
	Payload     []byte // as originally written
	Edited      []byte // sent instead of Payload; nil if it has not been edited
}

// Sent returns the payload that the next attempt sends.
func (l *Letter) Sent() []byte {
	if l.Edited != nil {
		return l.Edited
	}
	return l.Payload
}

// MarshalJSON encodes a letter for scripts: times in RFC 3339, payloads as JSON if they are valid JSON, otherwise as
// text, otherwise in base64.
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
		l.ContentType, l.Headers, payloadJSON(l.Payload), payloadJSON(l.Edited),
	})
}

func orNone(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// payloadJSON returns a payload as a JSON value.
func payloadJSON(payload []byte) any {
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

// Group is a group of letters that failed for the same reason.
type Group struct {
	Kind    Kind      `json:"kind,omitempty"`
	Reason  string    `json:"reason"`
	Error   string    `json:"error"`
	Subject string    `json:"subject"`
	Count   int64     `json:"count"`
	Oldest  time.Time `json:"oldest"` // time at which the first of them died
	Newest  time.Time `json:"newest"`
	Sample  string    `json:"sample"` // the ID of one of them
}

// Filter selects dead letters. Empty fields match all.
type Filter struct {
	Kind                        Kind
	Reason, Error, Subject, Key string
	Execution                   string    // name or ARN of the execution that the letters come from
	Since, Until                time.Time // limits of DeadAt: Since inclusive, Until exclusive
}

// Takes reports whether the filter selects a dead letter.
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

// Query selects a page of dead letters, oldest first.
type Query struct {
	Filter
	After string // Next of the previous page; empty for the first
	Limit int    // 1 or more
}

// Page is one page of a list.
type Page struct {
	Letters []Letter
	Next    string // After of the next query; empty for the last page
}

// Verb is the kind of an act.
type Verb string

// The kinds of acts.
const (
	VerbEdit    Verb = "edit"
	VerbRedrive Verb = "redrive"
	VerbDiscard Verb = "discard"
	VerbImport  Verb = "import" // a corrections file with the letter was imported
)

// past has the verbs as participles.
var past = map[Verb]string{VerbEdit: "edited", VerbRedrive: "redriven", VerbDiscard: "discarded", VerbImport: "imported"}

// Past returns the verb's participle, such as "redriven".
func (v Verb) Past() string {
	if p := past[v]; p != "" {
		return p
	}
	return string(v)
}

// Act is the record of what an operator did to a letter.
type Act struct {
	At     time.Time       `json:"at"`
	Who    string          `json:"who"`
	Verb   Verb            `json:"act"`
	ID     string          `json:"id"`
	Reason string          `json:"reason,omitempty"`
	Before json.RawMessage `json:"before"` // Snapshot of what the act changed
	After  json.RawMessage `json:"after"`
}

// Snapshot holds the parts of a letter that an act changes.
type Snapshot struct {
	Status   string `json:"status,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Error    string `json:"error,omitempty"`
	Attempts *int   `json:"attempts,omitempty"`
	Payload  any    `json:"payload,omitempty"`
}

// WithPayload returns a snapshot that contains only a payload.
func WithPayload(payload []byte) Snapshot { return Snapshot{Payload: payloadJSON(payload)} }

// JSON returns the snapshot in the form stored with acts.
func (s Snapshot) JSON() json.RawMessage {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings, numbers and valid JSON
	}
	return text
}
