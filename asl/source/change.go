package source

import (
	"cmp"
	"slices"
	"strings"
)

// Change is one change of a JSON document, independent of how its text is written.
type Change struct {
	Kind ChangeKind
	// At is the member that SetMember sets, the element before which InsertElement inserts, the array to which
	// AppendElements appends, or the element that RemoveElement removes. It is a path of the unchanged document.
	At Path
	// Value is JSON: the member's value, the element, or several elements with commas between them. RemoveElement has
	// none.
	Value string
}

// ChangeKind represents the effect of a Change.
type ChangeKind int

// The kinds of changes.
const (
	SetMember ChangeKind = iota
	InsertElement
	AppendElements
	RemoveElement
)

// Edit replaces a part of a text.
type Edit struct {
	// Span is the replaced part, in bytes. If it is empty, Text is inserted at its position.
	Span Span
	Text string
}

// Apply returns the text with the edits applied. The edits must not overlap. Of insertions at the same position the
// later one comes first in the result.
func Apply(text string, edits []Edit) string {
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b Edit) int { return cmp.Compare(b.Span.Start, a.Span.Start) })
	for _, e := range sorted {
		text = text[:e.Span.Start] + e.Text + text[e.Span.End:]
	}
	return text
}

// Has reports whether a path exists in the document.
func (x *Index) Has(p Path) bool {
	_, complete := x.find(p)
	return complete
}

// Edits returns the edits that make a change to the indexed text. A new member or element comes first in its object or
// array, and is laid out as the first one there.
func (x *Index) Edits(text string, c Change) []Edit {
	parent := c.At[:max(0, len(c.At)-1)]
	switch c.Kind {
	case SetMember:
		if x.Has(c.At) {
			return []Edit{{x.Value(c.At), c.Value}}
		}
		return x.first(text, parent, `"`+c.At[len(c.At)-1].Name+`": `+c.Value)
	case InsertElement:
		if i := c.At[len(c.At)-1].Index; i > 0 && x.Has(c.At) {
			at := x.Value(c.At).Start
			return []Edit{{Span{at, at}, c.Value + ", "}}
		}
		return x.first(text, parent, c.Value)
	case AppendElements:
		end := x.Value(c.At).End - 1
		trimmed := len(strings.TrimRight(text[:end], " \t\r\n"))
		return []Edit{{Span{trimmed, trimmed}, ", " + c.Value}}
	default:
		return x.remove(text, c.At)
	}
}

// first inserts text as the first member or element of the object or array at a path.
func (x *Index) first(document string, into Path, text string) []Edit {
	start := x.Value(into).Start + 1
	rest := document[start:]
	blank := rest[:len(rest)-len(strings.TrimLeft(rest, " \t\r\n"))]
	if first := strings.TrimLeft(rest, " \t\r\n"); first != "" && (first[0] == '}' || first[0] == ']') {
		return []Edit{{Span{start, start}, text}}
	}
	separator := ", "
	if strings.Contains(blank, "\n") {
		separator = ","
		text = blank + text
	}
	return []Edit{{Span{start, start}, text + separator}}
}

// remove removes the element at a path from its array, together with the adjacent comma.
func (x *Index) remove(text string, element Path) []Edit {
	span := x.Value(element)
	after := strings.TrimLeft(text[span.End:], " \t\r\n")
	if strings.HasPrefix(after, ",") {
		end := len(text) - len(after) + 1
		blanks := len(text[end:]) - len(strings.TrimLeft(text[end:], " \t\r\n"))
		return []Edit{{Span{span.Start, end + blanks}, ""}}
	}
	before := strings.TrimRight(text[:span.Start], " \t\r\n")
	if strings.HasSuffix(before, ",") {
		return []Edit{{Span{len(before) - 1, span.End}, ""}}
	}
	return []Edit{{span, ""}}
}
