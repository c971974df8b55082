// Package awsmessage converts a message of an outbox to what SNS and SQS carry: a text body and at most ten
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

// Names of the attributes besides those of the headers.
const (
	attributeID       = "Message-Id" // the ID by which the receiver detects duplicates
	attributeTopic    = "Topic"
	attributeKey      = "Key"
	attributeType     = "Content-Type"
	attributeTrace    = "traceparent"
	attributeHeaders  = "Headers"          // all headers as a JSON object, if they do not fit individually
	attributeEncoding = "Payload-Encoding" // base64, if the payload is not text
)

// maxAttributes is the maximum number that SQS carries and that SNS delivers to queues.
const maxAttributes = 10

// Body returns the payload as text. encoded is true if the payload had to be encoded in base64.
func Body(m *outbox.Message) (text string, encoded bool) {
	if isText(m.Payload) {
		return string(m.Payload), false
	}
	return base64.StdEncoding.EncodeToString(m.Payload), true
}

// isText reports whether the services accept the bytes as text. They accept only characters that XML allows, and no
// empty text.
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

// Attributes returns the message's attributes, by name.
func Attributes(m *outbox.Message, encoded bool) map[string]string {
	all := map[string]string{attributeID: m.ID, attributeTopic: m.Topic, attributeType: m.ContentType}
	for name, value := range map[string]string{attributeKey: m.Key, attributeTrace: m.TraceParent} {
		if value != "" {
			all[name] = value
		}
	}
	if encoded {
		all[attributeEncoding] = "base64"
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
		text, _ := json.Marshal(m.Headers) // encoding strings never fails
		all[attributeHeaders] = string(text)
		return all
	}
	for name, value := range m.Headers {
		all[name] = value
	}
	return all
}

// isName reports whether the services accept the text as an attribute's name.
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

// Size returns the size of a message in bytes, as the services count it.
func Size(body string, attributes map[string]string) int {
	n := len(body)
	for name, value := range attributes {
		n += len(name) + len("String") + len(value)
	}
	return n
}

// TooLarge returns the failure of a message that is too large for a service.
func TooLarge(service string, size, most int) error {
	return outbox.Permanent(
		outbox.ReasonTooLarge,
		fmt.Errorf("%s accepts messages of at most %d bytes, including attributes; this one has %d", service, most,
			size),
	)
}

// Entry returns the failure of one message in a batch. The failure has the service's code as its name, and is
// permanent if the sender is at fault.
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

// group returns the message group for FIFO queues and topics: the key if they accept it (up to 128 printable ASCII
// characters), otherwise a hash of the key. A message without a key forms its own group.
func group(m *outbox.Message) string {
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
