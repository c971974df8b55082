package itemreader

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

// csvRows splits delimited text into rows of fields by AWS's rules (Developer Guide, "ItemReader", rules for text
// delimited files). Rows without quotation marks and backslashes, the usual ones, are fast: one search for the
// newline, one copy.
type csvRows struct {
	w         window
	where     string
	delimiter byte
	columns   int // further fields are dropped; 0 keeps all

	fields []string // of the last row, reused
	text   []byte   // the fields of the last escaped row, without quotes and escapes, concatenated
	ends   []int    // the end of each of them
}

// read returns the fields of the next row that is not blank, or io.EOF after the last one. The slice is valid until
// the next call; the strings share one copy of the row.
func (c *csvRows) read() ([]string, error) {
	n, plain, err := c.frame()
	if err != nil {
		return nil, err
	}
	if !plain {
		return c.readEscaped()
	}
	line := string(dropReturn(c.w.view()[:n]))
	if !utf8.ValidString(line) {
		return nil, c.w.notUTF8(c.where, n)
	}
	c.endLine(n)
	c.split(line)
	return c.fields, nil
}

// skip skips the next row that is not blank.
func (c *csvRows) skip() error {
	n, plain, err := c.frame()
	if err != nil {
		return err
	}
	if plain {
		c.endLine(n)
		return nil
	}
	n, err = c.scanEscaped()
	if err != nil {
		return err
	}
	c.w.consume(n)
	return nil
}

// frame skips blank lines and returns the length of the line at the start of the view. The line is plain if it
// contains neither a quotation mark nor a backslash, so that it is the whole row.
func (c *csvRows) frame() (n int, plain bool, err error) {
	for {
		n, err := c.w.newline(0)
		if err == io.EOF && n == 0 {
			return 0, false, io.EOF
		}
		line := c.w.view()[:n]
		if bytes.IndexByte(line, '"') >= 0 || bytes.IndexByte(line, '\\') >= 0 {
			return 0, false, nil
		}
		if err != nil && err != io.EOF {
			return 0, false, c.w.readError(c.where, err)
		}
		if len(dropReturn(line)) > 0 {
			return n, true, nil
		}
		c.endLine(n)
	}
}

// endLine consumes a line of n bytes and its newline, which may be missing on the last line.
func (c *csvRows) endLine(n int) {
	if n < len(c.w.view()) {
		c.w.advance(n+1, 1)
	} else {
		c.w.advance(n, 0)
	}
}

func dropReturn(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}

func (c *csvRows) split(line string) {
	c.fields = c.fields[:0]
	for len(c.fields) != c.columns-1 {
		i := strings.IndexByte(line, c.delimiter)
		if i < 0 {
			break
		}
		c.fields = append(c.fields, line[:i])
		line = line[i+1:]
	}
	if len(c.fields) == c.columns-1 {
		line, _, _ = strings.Cut(line, string(c.delimiter))
	}
	c.fields = append(c.fields, line)
}
