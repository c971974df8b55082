package asl

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stepback/asl/source"
)

// Render formats diagnostics for users, in the order of the text, each with its line, a caret under the position and
// a hint about what would be accepted:
//
//	machine.json:3:34: error SCHEMA_VALIDATION_FAILED: Field 'Nxt' is not supported (at /States/A)
//	  3 |     "A": {"Type": "Pass", "Nxt": "B"},
//	    |                           ^^^^^
//	    = did you mean 'Next'? a Pass state accepts …
//
// Further places (Diagnostic.Also) follow, one a line. It omits consequences of other diagnostics
// (Diagnostic.Consequence), and repetitions of the same message at the same position. definition is the text that was
// parsed; filename is used only in the output.
func Render(diagnostics []Diagnostic, definition, filename string) string {
	sorted := slices.Clone(diagnostics)
	slices.SortStableFunc(sorted, func(a, b Diagnostic) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	lines := source.NewLines(definition)
	var b strings.Builder
	for i, d := range sorted {
		said := slices.ContainsFunc(sorted[:i], func(s Diagnostic) bool {
			return s.Span == d.Span && s.Code == d.Code && s.Message == d.Message
		})
		if !said && !d.Consequence {
			d.render(&b, lines, filename)
		}
	}
	return b.String()
}

func (d Diagnostic) render(b *strings.Builder, lines *source.Lines, filename string) {
	fmt.Fprintf(b, "%s:%d:%d: %s %s: %s", filename, d.Line, d.Column, strings.ToLower(string(d.Severity)), d.Code,
		d.firstLine())
	if d.Location != "" {
		fmt.Fprintf(b, " (at %s)", d.Location)
	}
	number := strconv.Itoa(d.Line)
	margin := strings.Repeat(" ", len(number))
	line, carets := lines.Excerpt(d.Span)
	fmt.Fprintf(b, "\n  %s | %s\n  %s | %s\n", number, line, margin, carets)
	if d.Hint != "" {
		fmt.Fprintf(b, "  %s = %s\n", margin, d.Hint)
	}
	for _, p := range d.Also {
		fmt.Fprintf(b, "  %s + also %d:%d at %s\n", margin, p.Line, p.Column, p.Location)
	}
}

// firstLine returns the first line of the message, for users. A second line would only repeat the text and the
// position.
func (d *Diagnostic) firstLine() string {
	first, _, _ := strings.Cut(strings.TrimSpace(d.Message), "\n")
	return first
}
