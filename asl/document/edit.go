package document

import (
	"errors"
	"fmt"
	"strings"

	"stepback/asl/source"
)

// errNotWritten is returned for a change of a value that the text does not spell out.
var errNotWritten = errors.New("the value comes from a placeholder or a function of the template")

// Edits returns the edits of Text that make a change to the definition: in the JSON or YAML of a file or of a
// template's object, or in the text of a template's string. It returns an error if the text does not contain what is to
// be changed, for instance because it is the value of a placeholder. New lines end as the first line of Text does.
func (d *Document) Edits(c source.Change) ([]source.Edit, error) {
	edits, err := d.edits(c)
	if end := strings.IndexByte(d.Text, '\n'); end > 0 && d.Text[end-1] == '\r' {
		for i := range edits {
			edits[i].Text = strings.ReplaceAll(strings.ReplaceAll(edits[i].Text, "\r\n", "\n"), "\n", "\r\n")
		}
	}
	return edits, err
}

func (d *Document) edits(c source.Change) ([]source.Edit, error) {
	switch {
	case d.isYAML && d.object == nil && !d.wholeFile():
		return nil, errors.New("the definition is YAML inside a string of the template")
	case d.isYAML:
		return yamlEdits(d.Text, d.object, c)
	case d.object != nil:
		c.At = d.object.Join(c.At...)
		x := source.NewIndex(d.Text)
		if c.Kind == source.SetMember && x.Has(c.At) && strings.Contains(d.Text[x.Value(c.At).Start:x.Value(c.At).End], "{") {
			return nil, errNotWritten
		}
		return x.Edits(d.Text, c), nil
	}
	edits := source.NewIndex(d.JSON).Edits(d.JSON, c)
	for i := range edits {
		span, ok := d.places.exact(edits[i].Span)
		if !ok || c.Kind == source.SetMember && strings.Contains(d.Text[span.Start:span.End], "${") {
			return nil, errNotWritten
		}
		edits[i] = source.Edit{Span: span, Text: d.quoted(edits[i].Text, span.Start)}
	}
	return edits, nil
}

// wholeFile reports whether the definition is all of Text, and not a part of a template.
func (d *Document) wholeFile() bool { return strings.TrimPrefix(d.Text, "\ufeff") == d.own }

// quoted returns text as the file writes it inside the string that holds the definition, at an offset.
func (d *Document) quoted(text string, at int) string {
	if d.wholeFile() {
		return text
	}
	switch d.quotes {
	case DoubleQuotes:
		q := quoted(text)
		return q[1 : len(q)-1]
	case LiteralBlock:
		return strings.ReplaceAll(text, "\n", "\n"+d.blockIndent(at))
	case SingleQuotes:
		return strings.ReplaceAll(onOneLine(text), "'", "''")
	default:
		return onOneLine(text)
	}
}

// blockIndent returns the indentation of the block that contains an offset: that of its least indented line, because
// the lines of the definition have theirs in addition.
func (d *Document) blockIndent(at int) string {
	start, _ := d.places.exact(source.Span{Start: 0, End: 0})
	least := -1
	for line := range strings.Lines(d.Text[strings.LastIndexByte(d.Text[:start.Start], '\n')+1 : at]) {
		if indent := len(line) - len(strings.TrimLeft(line, " ")); strings.TrimSpace(line) != "" && (least < 0 || indent < least) {
			least = indent
		}
	}
	return strings.Repeat(" ", max(0, least))
}

// onOneLine replaces line ends and the indentation after them by blanks.
func onOneLine(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.TrimLeft(strings.Join(lines, " "), " ")
}

// exact returns the span of the other text that corresponds to a span of this one, if both ends of it are known to the
// character.
func (m mapping) exact(s source.Span) (source.Span, bool) {
	if m == nil {
		return s, true
	}
	end := m.last(s.End)
	to := end.from.End
	switch {
	case s.End == 0 && len(m) > 0:
		return source.Span{Start: m[0].from.Start, End: m[0].from.Start}, m[0].same
	case len(m) == 0 || s.End > end.at.End || !end.same && s.End != end.at.End:
		return source.Span{}, false
	case end.same:
		to = end.from.Start + s.End - end.at.Start
	}
	if s.Start == s.End {
		return source.Span{Start: to, End: to}, true
	}
	start := m.piece(s.Start)
	from := start.from.Start
	switch {
	case s.Start < start.at.Start || !start.same && s.Start != start.at.Start:
		return source.Span{}, false
	case start.same:
		from += s.Start - start.at.Start
	}
	if from > to {
		return source.Span{}, false
	}
	return source.Span{Start: from, End: to}, true
}

// errUnknownPlace returns the error for a path that a text does not have.
func errUnknownPlace(p source.Path) error { return fmt.Errorf("the text has no %s of its own", p) }
