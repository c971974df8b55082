// Package awsmessage turns a message of an outbox into what SNS and SQS carry: a body of text and at most ten
// attributes.
package awsmessage

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"stepback/outbox"
	"stepback/retry"
)

// Names of the attributes, besides those of the headers.
const (
	AttributeID       = "Message-Id" // the ID by which the receiver tells a repeat
	AttributeTopic    = "Topic"
	AttributeKey      = "Key"
	AttributeType     = "Content-Type"
	AttributeTrace    = "traceparent"
	AttributeHeaders  = "Headers"          // all headers as a JSON object, where they do not fit one by one
	AttributeEncoding = "Payload-Encoding" // base64, where the payload is not text
)

// maxAttributes is how many SQS carries, and SNS delivers to queues.
const maxAttributes = 10

// Body is the payload as text.
func Body(m *outbox.Message) (text string, encoded bool) {
	if isText(m.Payload) {
		return string(m.Payload), false
	}
	return base64.StdEncoding.EncodeToString(m.Payload), true
}

// isText reports whether the services take the bytes as text: the characters of XML, and at least one.
func isText(payload []byte) bool {
	if len(payload) == 0 {
		return false
	}
	for b := payload; len(b) > 0; {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size <= 1 || r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE ||
			r == 0xFFFF {
			return false
		}
		b = b[size:]
	}
	return true
}

// Attributes are the message's attributes, by name.
func Attributes(m *outbox.Message, encoded bool) map[string]string {
	all := map[string]string{AttributeID: m.ID, AttributeTopic: m.Topic, AttributeType: m.ContentType}
	for name, value := range map[string]string{AttributeKey: m.Key, AttributeTrace: m.TraceParent} {
		if value != "" {
			all[name] = value
		}
	}
	if encoded {
		all[AttributeEncoding] = "base64"
	}
	if len(m.Headers) == 0 {
		return all
	}
	single := len(all)+len(m.Headers) <= maxAttributes
	for name, value := range m.Headers {
		_, taken := all[name]
		single = single && !taken && value != "" && isName(name)
	}
	if !single {
		text, _ := json.Marshal(m.Headers) // strings always can be
		all[AttributeHeaders] = string(text)
		return all
	}
	for name, value := range m.Headers {
		all[name] = value
	}
	return all
}

// isName reports whether the services take the text as an attribute's name.
func isName(name string) bool {
	if len(name) > 256 || name[0] == '.' || name[len(name)-1] == '.' {
		return false
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return true
}

// Size is how many bytes a message counts for.
func Size(body string, attributes map[string]string) int {
	n := len(body)
	for name, value := range attributes {
		n += len(name) + len("String") + len(value)
	}
	return n
}

// TooLarge is the failure of a message that a service does not take.
func TooLarge(service string, size, most int) error {
	return outbox.Permanent(
		outbox.ReasonTooLarge,
		fmt.Errorf("%s takes messages of %d bytes at most, with their attributes; this one has %d", service, most,
			size),
	)
}

// Entry is the failure of one message of a batch: by the service's code, or for good where the sender is at fault.
func Entry(service, code, text string, senderFault bool) error {
	f := &outbox.Failure{
		Name:  code,
		Class: retry.UnknownOutcome,
		Err:   fmt.Errorf("%s: %s: %s", service, code, text),
	}
	if c, ok := retry.ClassifyAWS(service, code); ok {
		f.Name, f.Class = c.Error, c.Class
	} else if senderFault {
		f.Name, f.Class = retry.InvalidInput, retry.Permanent
	}
	return f
}

// Group is the message group of FIFO queues and topics: the key, as long as they take it (128 printable characters of
// ASCII), else a hash of the key; without a key, the message is a group of its own.
func Group(m *outbox.Message) string {
	if m.Key == "" {
		return m.ID
	}
	fits := len(m.Key) <= 128
	for _, c := range []byte(m.Key) {
		fits = fits && c > ' ' && c < 0x7f
	}
	if fits {
		return m.Key
	}
	sum := sha256.Sum256([]byte(m.Key))
	return hex.EncodeToString(sum[:])
}
