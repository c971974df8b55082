package lsp

import (
	"sort"
	"strings"
	"unicode/utf8"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"stepback/asl/source"
)

// lines converts between byte offsets of a text and positions of the protocol, whose lines count from 0 and end with
// \n, \r\n or \r, and whose characters are UTF-16 code units.
type lines struct {
	text   string
	starts []int // the offset of the beginning of each line
}

func newLines(text string) *lines {
	l := &lines{text: text, starts: []int{0}}
	for i := 0; ; {
		n := strings.IndexAny(text[i:], "\r\n")
		if n < 0 {
			return l
		}
		if i += n + 1; text[i-1] == '\r' && i < len(text) && text[i] == '\n' {
			i++
		}
		l.starts = append(l.starts, i)
	}
}

// position returns the position of a byte offset; offsets outside the text are clamped to it.
func (l *lines) position(offset int) protocol.Position {
	offset = max(0, min(offset, len(l.text)))
	line := sort.SearchInts(l.starts, offset+1) - 1
	units := 0
	for _, r := range l.text[l.starts[line]:offset] {
		units += utf16Units(r)
	}
	return protocol.Position{Line: protocol.UInteger(line), Character: protocol.UInteger(units)}
}

// offset returns the byte offset of a position. A position beyond the end of its line is clamped to the line's end, and
// one beyond the last line to the end of the text.
func (l *lines) offset(p protocol.Position) int {
	if int64(p.Line) >= int64(len(l.starts)) {
		return len(l.text)
	}
	at, units := l.starts[p.Line], int64(p.Character)
	for at < len(l.text) && l.text[at] != '\n' && l.text[at] != '\r' {
		r, width := utf8.DecodeRuneInString(l.text[at:])
		if units -= int64(utf16Units(r)); units < 0 {
			break
		}
		at += width
	}
	return at
}

// span returns the range of a span of the text.
func (l *lines) span(s source.Span) protocol.Range {
	return protocol.Range{Start: l.position(s.Start), End: l.position(max(s.Start, s.End))}
}

// utf16Units returns the number of UTF-16 code units of a character.
func utf16Units(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}
