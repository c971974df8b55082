package interpreter

import (
	"strconv"
	"strings"

	"stepback/asl/jsonvalue"
)

// MaxPayload is the limit in bytes of every input, output and result.
const MaxPayload = 262_144

// Payload is a JSON document that passes between states. It stays text until something looks inside, and stays a tree
// until somebody needs its text; both are kept once made. A Payload belongs to one execution and is not safe for
// concurrent use.
type Payload struct {
	text  string
	value jsonvalue.Value
	has   uint8
}

const (
	hasText = 1 << iota
	hasValue
)

// TextPayload returns the payload of a text that is known to be valid JSON.
func TextPayload(text string) *Payload { return &Payload{text: text, has: hasText} }

// ParsedPayload returns the payload of a text whose tree is known already.
func ParsedPayload(text string, v jsonvalue.Value) *Payload {
	return &Payload{text: text, value: v, has: hasText | hasValue}
}

// ValuePayload returns the payload of a tree.
func ValuePayload(v jsonvalue.Value) *Payload { return &Payload{value: v, has: hasValue} }

// Text returns the document's JSON text.
func (p *Payload) Text() string {
	if p.has&hasText == 0 {
		p.text = p.value.JSON()
		p.has |= hasText
	}
	return p.text
}

// fits reports whether the document's text is within MaxPayload. The text of one that does not fit is not made: what a
// path selects may share parts, so that it could be immense.
func (p *Payload) fits() bool {
	if p.has&hasText == 0 {
		text, ok := p.value.JSONUpTo(MaxPayload)
		if !ok {
			return false
		}
		p.text = text
		p.has |= hasText
	}
	return len(p.text) <= MaxPayload
}

// Value returns the document's tree.
func (p *Payload) Value() jsonvalue.Value {
	if p.has&hasValue == 0 {
		v, err := jsonvalue.Parse(p.text)
		if err != nil {
			// The shell lets only valid JSON in; a text that does not parse can only be a defect in it.
			panic("interpreter: payload is not JSON: " + err.Error())
		}
		p.value = v
		p.has |= hasValue
	}
	return p.value
}

// isNull reports whether the document is null.
func (p *Payload) isNull() bool {
	if p.has&hasText != 0 {
		return strings.TrimSpace(p.text) == "null"
	}
	return p.value.IsNull()
}

// joinPayloads returns the array of the payloads.
func joinPayloads(elements []*Payload) *Payload {
	size := 2
	for _, e := range elements {
		size += len(e.Text()) + 1
	}
	dst := make([]byte, 0, size)
	dst = append(dst, '[')
	for i, e := range elements {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, e.Text()...)
	}
	return TextPayload(string(append(dst, ']')))
}

func itoa(i int64) string { return strconv.FormatInt(i, 10) }
