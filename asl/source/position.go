package source

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// Position is a position for users: line and column count from 1, columns in characters (Unicode code points).
type Position struct {
	Line, Column int
}

// Lines converts byte offsets of a text to positions.
type Lines struct {
	text   string
	starts []int // offset of each line's first byte
}

// NewLines returns the Lines of a text.
func NewLines(text string) *Lines {
	l := &Lines{text: text, starts: []int{0}}
	for i := 0; ; {
		n := strings.IndexByte(text[i:], '\n')
		if n < 0 {
			return l
		}
		i += n + 1
		l.starts = append(l.starts, i)
	}
}

// Position returns the position of a byte offset; offsets outside the text are clamped to it.
func (l *Lines) Position(offset int) Position {
	offset = max(0, min(offset, len(l.text)))
	line := sort.SearchInts(l.starts, offset+1)
	return Position{Line: line, Column: utf8.RuneCountInString(l.text[l.starts[line-1]:offset]) + 1}
}

// Offset returns the byte offset of a position. A position outside the text is clamped to the end of its line or of
// the text.
func (l *Lines) Offset(p Position) int {
	if p.Line > len(l.starts) {
		return len(l.text)
	}
	text, offset := l.line(l.starts[max(p.Line, 1)-1])
	for range p.Column - 1 {
		_, size := utf8.DecodeRuneInString(text)
		text, offset = text[size:], offset+size
	}
	return offset
}

// line returns the line that contains the offset, without its line ending. start is the offset of the line's first
// byte.
func (l *Lines) line(offset int) (text string, start int) {
	start = l.starts[l.Position(offset).Line-1]
	text, _, _ = strings.Cut(l.text[start:], "\n")
	return strings.TrimSuffix(text, "\r"), start
}
