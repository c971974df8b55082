package jsonvalue

import "strings"

// Document is a JSON document that stays text until something looks inside, and stays a tree until its text is needed.
// Each form is kept once it is made. A Document is not safe for concurrent use. The zero Document is not valid; the
// three functions below make one.
type Document struct {
	text  string
	value Value
	has   uint8
}

const (
	hasText = 1 << iota
	hasValue
)

// TextDocument returns the document of a text that is known to be valid JSON.
func TextDocument(text string) *Document { return &Document{text: text, has: hasText} }

// ParsedDocument returns the document of a text whose tree is known already.
func ParsedDocument(text string, v Value) *Document {
	return &Document{text: text, value: v, has: hasText | hasValue}
}

// ValueDocument returns the document of a tree.
func ValueDocument(v Value) *Document { return &Document{value: v, has: hasValue} }

// Text returns the document's JSON text.
func (d *Document) Text() string {
	if d.has&hasText == 0 {
		d.text = d.value.JSON()
		d.has |= hasText
	}
	return d.text
}

// Fits reports whether the document's text has at most limit bytes. The text of one that does not fit is not made: a
// tree may share parts, so that its text could be immense.
func (d *Document) Fits(limit int) bool {
	if d.has&hasText == 0 {
		text, ok := d.value.JSONUpTo(limit)
		if !ok {
			return false
		}
		d.text = text
		d.has |= hasText
	}
	return len(d.text) <= limit
}

// Value returns the document's tree.
func (d *Document) Value() Value {
	if d.has&hasValue == 0 {
		v, err := Parse(d.text)
		if err != nil {
			// TextDocument takes only valid JSON; a text that does not parse can only be a defect of its caller.
			panic("jsonvalue: the document is not JSON: " + err.Error())
		}
		d.value = v
		d.has |= hasValue
	}
	return d.value
}

// IsNull reports whether the document is null.
func (d *Document) IsNull() bool {
	if d.has&hasText != 0 {
		return strings.TrimSpace(d.text) == "null"
	}
	return d.value.IsNull()
}
