package source

import "unicode/utf8"

// Cursor converts positions to offsets. It is fast for positions that follow one another on the same line, however long
// the line is.
type Cursor struct {
	lines *Lines
	near  Position // of the last result
	far   int      // its offset
}

// Cursor returns a cursor at the beginning of the text.
func (l *Lines) Cursor() *Cursor { return &Cursor{lines: l} }

// Offset returns the byte offset of a position, like Lines.Offset.
func (c *Cursor) Offset(p Position) int {
	if p.Line == c.near.Line && p.Column >= c.near.Column {
		for range p.Column - c.near.Column {
			_, size := utf8.DecodeRuneInString(c.lines.text[c.far:])
			c.far += size
		}
	} else {
		c.far = c.lines.Offset(p)
	}
	c.near = p
	return c.far
}
