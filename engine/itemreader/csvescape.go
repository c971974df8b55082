package itemreader

import (
	"io"
	"unicode/utf8"
)

// endOfText is returned by byteAt at the end of the stream.
const endOfText = -1

// readEscaped reads a row that contains quotation marks or backslashes.
func (c *csvRows) readEscaped() ([]string, error) {
	n, err := c.scanEscaped()
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(c.text) {
		return nil, c.w.notUTF8(c.where, n)
	}
	c.w.consume(n)
	all, from := string(c.text), 0
	c.fields = c.fields[:0]
	for _, end := range c.ends {
		c.fields = append(c.fields, all[from:end])
		from = end
	}
	return c.fields, nil
}

// scanEscaped parses the row at the start of the view into c.text and c.ends. It returns the row's length including
// the newline.
func (c *csvRows) scanEscaped() (int, error) {
	c.text, c.ends = c.text[:0], c.ends[:0]
	for i := 0; ; {
		next, last, err := c.scanField(i)
		if err != nil {
			return 0, err
		}
		if c.columns == 0 || len(c.ends) < c.columns {
			c.ends = append(c.ends, len(c.text))
		} else {
			c.text = c.text[:c.ends[len(c.ends)-1]]
		}
		if last {
			return next, nil
		}
		i = next
	}
}

// scanField appends the field at i to text. next is the position after its delimiter; last is true if the row ends
// there.
func (c *csvRows) scanField(i int) (next int, last bool, err error) {
	b, err := c.byteAt(i)
	if b == '"' && err == nil {
		i, err = c.scanQuoted(i + 1)
	}
	plainFrom := i // a carriage return before this position belongs to a quoted part
	for err == nil {
		if b, err = c.byteAt(i); err != nil {
			break
		}
		switch b {
		case int(c.delimiter):
			return i + 1, false, nil
		case '\n', endOfText:
			if i > plainFrom && c.w.view()[i-1] == '\r' {
				c.text = c.text[:len(c.text)-1]
			}
			return min(i+1, len(c.w.view())), true, nil
		case '\\':
			i, err = c.scanBackslash(i)
		case '"':
			c.text = append(c.text, '"')
			if b, err = c.byteAt(i + 1); b == '"' {
				i++ // doubled outside quotes, too, as in the Developer Guide's example
			}
			i++
		default:
			c.text = append(c.text, byte(b))
			i++
		}
	}
	return 0, false, err
}

// scanQuoted appends the quoted part that starts at i, after its opening quotation mark, and returns the position
// after the closing one.
func (c *csvRows) scanQuoted(i int) (int, error) {
	for {
		b, err := c.byteAt(i)
		if err != nil {
			return 0, err
		}
		switch b {
		case endOfText:
			return 0, failf("%s line %d: a quoted field that starts in this row is never closed; add the closing quotation mark, "+
				"or double a quotation mark that belongs to the text", c.where, c.w.line)
		case '"':
			if b, err = c.byteAt(i + 1); err != nil {
				return 0, err
			}
			if b != '"' {
				return i + 1, nil
			}
			c.text = append(c.text, '"')
			i += 2
		case '\\':
			if i, err = c.scanBackslash(i); err != nil {
				return 0, err
			}
		default:
			c.text = append(c.text, byte(b))
			i++
		}
	}
}

// scanBackslash handles the backslash at i: it escapes a backslash, a quotation mark and the delimiter, and is
// silently dropped before anything else.
func (c *csvRows) scanBackslash(i int) (int, error) {
	b, err := c.byteAt(i + 1)
	if err != nil {
		return 0, err
	}
	if b == '\\' || b == '"' || b == int(c.delimiter) {
		c.text = append(c.text, byte(b))
		return i + 2, nil
	}
	return i + 1, nil
}

// byteAt returns byte i of the view, extending the view if necessary, or endOfText.
func (c *csvRows) byteAt(i int) (int, error) {
	for i >= len(c.w.view()) {
		if err := c.w.more(); err == io.EOF {
			return endOfText, nil
		} else if err != nil {
			return 0, c.w.readError(c.where, err)
		}
	}
	return int(c.w.view()[i]), nil
}
