package outbox

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// The limits of a message. Sinks may have lower ones.
const (
	MaxPayload = 10 << 20 // bytes
	MaxHeaders = 64 << 10 // bytes of all names and values
	MaxTopic   = 255      // bytes
	MaxKey     = 512      // bytes
)

// JSON is the default content type.
const JSON = "application/json"

// Message is a message to be delivered.
type Message struct {
	// ID is the UUID by which a receiver detects duplicates. If it is empty, Write creates one (version 7).
	ID string
	// Topic names the subject of the message, such as "import.finished"; 1 to 255 bytes. Sinks route by it.
	Topic string
	// Key orders messages: messages with the same key are sent one after the other, in the order in which they were
	// written. Messages with an empty key are sent in any order, which is faster.
	Key string
	// Payload is at most 10 MB. It is sent unchanged.
	Payload []byte
	// ContentType is the content type of the payload; empty means application/json.
	ContentType string
	// Headers are sent with the payload, to the extent that the sink supports them.
	Headers map[string]string
	// TraceParent and TraceState are the W3C trace context of the transaction that wrote the message.
	TraceParent, TraceState string
	// NotBefore delays the first attempt; zero means at once.
	NotBefore time.Time
}

// IsJSON reports whether the message declares its payload to be JSON.
func (m *Message) IsJSON() bool { return IsJSONType(m.ContentType) }

// IsJSONType reports whether a content type means JSON. The empty content type does.
func IsJSONType(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	return media == "" || media == JSON || strings.HasSuffix(media, "+json")
}

// InvalidMessageError reports why a message cannot be written.
type InvalidMessageError struct {
	ID    string // may be empty
	Field string
	Want  string
}

func (e *InvalidMessageError) Error() string {
	what := "the message"
	if e.ID != "" {
		what += " " + e.ID
	}
	return fmt.Sprintf("%s cannot be written to the outbox: its %s must be %s", what, e.Field, e.Want)
}

// Prepare checks a message for a store's Write and fills in ID and ContentType. The error is an
// [InvalidMessageError]. The payload's content is checked when the message is sent, not here; see [CheckJSON].
func (m *Message) Prepare() error {
	if m.ID == "" {
		id, err := uuid.NewV7()
		if err != nil {
			return fmt.Errorf("make a message's ID: %w", err)
		}
		m.ID = id.String()
	}
	invalid := func(field, want string) error { return &InvalidMessageError{ID: m.ID, Field: field, Want: want} }
	id, err := uuid.Parse(m.ID)
	if err != nil {
		return &InvalidMessageError{Field: "ID", Want: fmt.Sprintf("a UUID or empty, not %.50q", m.ID)}
	}
	m.ID = id.String()
	if m.ContentType == "" {
		m.ContentType = JSON
	}
	if m.Payload == nil {
		m.Payload = []byte{}
	}
	switch {
	case m.Topic == "":
		return invalid("topic", "1 to 255 bytes; it is empty")
	case len(m.Topic) > MaxTopic || !isText(m.Topic):
		return invalid("topic",
			fmt.Sprintf("1 to 255 bytes of UTF-8 without NUL; it is %d bytes: %.40q", len(m.Topic), m.Topic))
	case len(m.Key) > MaxKey || !isText(m.Key):
		return invalid("key",
			fmt.Sprintf("at most %d bytes of UTF-8 without NUL; it is %d bytes: %.40q", MaxKey, len(m.Key), m.Key))
	case len(m.Payload) > MaxPayload:
		return invalid("payload", fmt.Sprintf("at most %d bytes; it is %d", MaxPayload, len(m.Payload)))
	case len(m.ContentType) > MaxTopic || !isHeader(m.ContentType):
		return invalid("content type", "at most 255 bytes of UTF-8 without control characters")
	case len(m.TraceParent) > MaxTopic || !isHeader(m.TraceParent),
		len(m.TraceState) > MaxKey || !isHeader(m.TraceState):
		return invalid("trace context", "a traceparent of 255 bytes and a tracestate of 512 at most")
	}
	size := 0
	for name, value := range m.Headers {
		size += len(name) + len(value)
		if name == "" || !isHeader(name) || !isHeader(value) {
			return invalid("headers", fmt.Sprintf("UTF-8 without control characters; %.40q is not", name))
		}
	}
	if size > MaxHeaders {
		return invalid("headers", fmt.Sprintf("at most %d bytes together; they are %d", MaxHeaders, size))
	}
	return nil
}

// isText reports whether a database can store the text: UTF-8 without NUL, which PostgreSQL refuses.
func isText(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

// isHeader reports whether the text can be a header in any protocol.
func isHeader(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// CheckJSON permanently rejects a message that is declared as JSON and is not. It is a Relay's default check.
func CheckJSON(m *Message) error {
	if m.IsJSON() && !json.Valid(m.Payload) {
		return Invalid(fmt.Errorf("the payload says that it is %s, and is not: %s", JSON, whyNotJSON(m.Payload)))
	}
	return nil
}

// whyNotJSON describes the first syntax error and where it is.
func whyNotJSON(payload []byte) string {
	var v json.RawMessage
	err := json.Unmarshal(payload, &v)
	if syntax, ok := err.(*json.SyntaxError); ok { //nolint:errorlint // Unmarshal returns it unwrapped
		line := 1 + strings.Count(string(payload[:min(int(syntax.Offset), len(payload))]), "\n")
		return fmt.Sprintf("%v (line %d, byte %d)", err, line, syntax.Offset)
	}
	return fmt.Sprint(err)
}
