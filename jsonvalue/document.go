package jsonvalue

import "strings"

// Document is a JSON document that stays text until it is accessed, and stays a tree until its text is needed. Each
// form is kept once it is made. A Document is not safe for concurrent use. The zero Document is not valid; use the
// functions below.
type Document struct {
	text  string
	value Value
	has   uint8
}

const (
	hasText = 1 << iota
	hasValue
	isCompact
)

// TextDocument returns the document of a text, which must be valid JSON.
func TextDocument(text string) *Document { return &Document{text: text, has: hasText} }

// CompactDocument returns the document of a text written by AppendJSON, or composed of such texts in the same form.
// Its tree is that of ParseCompact.
func CompactDocument(text string) *Document { return &Document{text: text, has: hasText | isCompact} }

// ParsedDocument returns the document of a text whose tree is v.
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

// Fits reports whether the document's text has at most limit bytes. It does not create the text of one that does not
// fit: a tree may share parts, so its text could be immense.
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
		parse := Parse
		if d.has&isCompact != 0 {
			parse = ParseCompact
		}
		d.value = parsed(parse(d.text))
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
