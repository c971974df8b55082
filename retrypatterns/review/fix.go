package review

import (
	"cmp"
	"slices"
	"strings"

	"stepback/asl/source"
)

// Edit replaces a part of the definition's text.
type Edit struct {
	// Span is the replaced part, in bytes. If it is empty, Text is inserted at its position.
	Span source.Span
	Text string
}

// Fix applies the mechanical fixes of all findings. It returns the fixed definition and the number of findings that
// it fixed. A fix that overlaps an earlier one is left for another call.
func Fix(text string, findings []Finding) (fixed string, mended int) {
	var edits []Edit
	overlaps := func(e Edit) bool {
		return slices.ContainsFunc(edits, func(o Edit) bool {
			return e.Span.Start < o.Span.End && o.Span.Start < e.Span.End ||
				e.Span.Start == o.Span.Start || e.Span == o.Span
		})
	}
	for _, f := range findings {
		if len(f.Fix) == 0 || slices.ContainsFunc(f.Fix, overlaps) {
			continue
		}
		edits = append(edits, f.Fix...)
		mended++
	}
	slices.SortFunc(edits, func(a, b Edit) int { return cmp.Compare(b.Span.Start, a.Span.Start) })
	for _, e := range edits {
		text = text[:e.Span.Start] + e.Text + text[e.Span.End:]
	}
	return text, mended
}

// set sets a member of the object at a path, replacing an existing one.
func (r *reviewer) set(object source.Path, name, value string) []Edit {
	at := object.Join(source.Member(name))
	whole := r.index.Value(object)
	if span := r.index.Value(at); span != whole {
		return []Edit{{span, value}}
	}
	return r.insert(object, `"`+name+`": `+value)
}

// insert inserts text as the first member or element of the object or array at a path.
func (r *reviewer) insert(into source.Path, text string) []Edit {
	start := r.index.Value(into).Start + 1
	rest := r.text[start:]
	blank := rest[:len(rest)-len(strings.TrimLeft(rest, " \t\r\n"))]
	if first := strings.TrimLeft(rest, " \t\r\n"); first != "" && (first[0] == '}' || first[0] == ']') {
		return []Edit{{source.Span{Start: start, End: start}, text}}
	}
	separator := ", "
	if strings.Contains(blank, "\n") {
		separator = ","
		text = blank + text
	}
	return []Edit{{source.Span{Start: start, End: start}, text + separator}}
}

// prepend inserts an element at the start of an array member of the object at a path, and creates the array if it
// does not exist.
func (r *reviewer) prepend(object source.Path, array, element string) []Edit {
	at := object.Join(source.Member(array))
	if r.index.Value(at) == r.index.Value(object) {
		return r.insert(object, `"`+array+`": [`+element+`]`)
	}
	return r.insert(at, element)
}

// append adds elements at the end of the array at a path.
func (r *reviewer) append(array source.Path, elements string) []Edit {
	end := r.index.Value(array).End - 1
	trimmed := len(strings.TrimRight(r.text[:end], " \t\r\n"))
	return []Edit{{source.Span{Start: trimmed, End: trimmed}, ", " + elements}}
}

// remove removes the element at a path from its array, together with the adjacent comma.
func (r *reviewer) remove(element source.Path) []Edit {
	span := r.index.Value(element)
	after := strings.TrimLeft(r.text[span.End:], " \t\r\n")
	if strings.HasPrefix(after, ",") {
		end := len(r.text) - len(after) + 1
		blanks := len(r.text[end:]) - len(strings.TrimLeft(r.text[end:], " \t\r\n"))
		return []Edit{{source.Span{Start: span.Start, End: end + blanks}, ""}}
	}
	before := strings.TrimRight(r.text[:span.Start], " \t\r\n")
	if strings.HasSuffix(before, ",") {
		return []Edit{{source.Span{Start: len(before) - 1, End: span.End}, ""}}
	}
	return []Edit{{span, ""}}
}
