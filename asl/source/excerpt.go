package source

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// contextWidth is the number of characters of a long line shown on either side of the caret.
const contextWidth = 60

// Excerpt returns the line in which the span starts, and a second line with carets under the span. There is at
// least one caret, and none beyond the line's end. Tabs stay tabs in both lines, and other control characters are
// replaced by U+FFFD. A character that takes two cells in a terminal gets two cells in both lines. A very long line
// is cut around the span, with … at each cut.
func (l *Lines) Excerpt(span Span) (line, carets string) {
	span.Start = max(0, min(span.Start, len(l.text)))
	text, start := l.line(span.Start)
	from := min(span.Start-start, len(text))
	to := min(max(span.End-start, from), len(text))
	before, marked, after := text[:from], text[from:to], text[to:]
	before, marked, after = printable(before), printable(marked), printable(after)
	if cut := lastRunes(before, contextWidth); cut != before {
		before = "…" + cut
	}
	if cut := firstRunes(marked, 2*contextWidth); cut != marked {
		marked, after = cut, "…"
	}
	if cut := firstRunes(after, contextWidth); cut != after {
		after = cut + "…"
	}
	return before + marked + after, blanks(before) + strings.Repeat("^", max(1, Cells(marked)))
}

// printable replaces control characters and invalid bytes by U+FFFD, because a terminal would obey control
// characters. Tabs stay.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

// blanks returns white space that is exactly as wide as s.
func blanks(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '\t' {
			b.WriteByte('\t')
			continue
		}
		b.WriteString("  "[:runeCells(r)])
	}
	return b.String()
}

// Cells returns the number of terminal cells that a line of text takes; tabs count as one.
func Cells(s string) int {
	n := 0
	for _, r := range s {
		n += runeCells(r)
	}
	return n
}

// runeCells returns the number of terminal cells that a character takes: 0, 1 or 2.
func runeCells(r rune) int {
	if r < utf8.RuneSelf {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func lastRunes(s string, n int) string {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return s[i:]
}
