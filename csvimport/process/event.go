package process

import (
	"strings"

	"stepback/csvimport"
)

// ReadText parses an event whose members all have the usual names and kinds, and reports whether it has done so.
// The text must be UTF-8 without any backslash. Functions parse the rows of whole files in this way, in a fraction
// of the time that encoding/json needs. Every other event is left to encoding/json, which parses or refuses it.
func (e *Event) ReadText(text string) bool {
	c := cursor{text: text}
	return c.object(func(name string) bool {
		switch name {
		case "source":
			return c.source(&e.Source)
		case "run":
			return c.quoted(&e.Run)
		case "offset":
			return c.offset(&e.Offset)
		case "row":
			e.Row = new(int64)
			return e.Items == nil && c.number(e.Row)
		case "record":
			e.Record = new(csvimport.Record)
			return e.Items == nil && c.record(e.Record)
		case "items":
			return e.Row == nil && e.Record == nil && c.items(&e.Items)
		case "attempt":
			return c.attempt()
		}
		return false
	}) && c.ended()
}

func (c *cursor) offset(o *csvimport.Offset) bool {
	return c.object(func(name string) bool {
		switch name {
		case "rows":
			return c.number(&o.Rows)
		case "lines":
			return c.number(&o.Lines)
		}
		return false
	})
}

// attempt skips the member with the number of the attempt. Only the step's guard needs it, if the step fails.
func (c *cursor) attempt() bool {
	var text string
	var n int64
	return c.object(func(name string) bool {
		switch name {
		case "state", "entered":
			return c.quoted(&text)
		case "retries", "brief":
			return c.number(&n)
		}
		return false
	})
}

// cursor parses JSON text with known members from left to right. It fails on anything unexpected.
type cursor struct {
	text string
	at   int
}

// usualItem is the usual number of bytes of an item. atOnce is the maximum number of items for which memory is
// allocated at once.
const (
	usualItem = 80
	atOnce    = 512
)

// items parses an array of items. The values that they point to are allocated side by side.
func (c *cursor) items(to *[]Item) bool {
	room := min(1+(len(c.text)-c.at)/usualItem, atOnce)
	items := make([]Item, 0, room)
	var rows []int64
	var records []csvimport.Record
	if !c.array(func() bool {
		if len(rows) == 0 {
			rows, records = make([]int64, room), make([]csvimport.Record, room)
		}
		row, record := &rows[0], &records[0]
		rows, records = rows[1:], records[1:]
		items = append(items, Item{})
		item := &items[len(items)-1]
		return c.object(func(name string) bool {
			switch name {
			case "row":
				item.Row = row
				return c.number(item.Row)
			case "record":
				item.Record = record
				from := c.after()
				ok := c.record(item.Record)
				item.came = c.text[from:c.at]
				return ok
			}
			return false
		}) && item.Record != nil
	}) {
		return false
	}
	*to = items
	return true
}

func (c *cursor) source(s *csvimport.Source) bool {
	return c.object(func(name string) bool {
		switch name {
		case "bucket":
			return c.quoted(&s.Bucket)
		case "key":
			return c.quoted(&s.Key)
		case "etag":
			return c.quoted(&s.ETag)
		}
		return false
	})
}

func (c *cursor) record(r *csvimport.Record) bool {
	return c.object(func(name string) bool {
		switch name {
		case "user_id":
			return c.quoted(&r.UserID)
		case "login_count":
			return c.quoted(&r.LoginCount)
		case "post_count":
			return c.quoted(&r.PostCount)
		case "line":
			return c.quoted(&r.Line)
		case "problem":
			return c.quoted(&r.Problem)
		case "letter":
			return c.quoted(&r.Letter)
		}
		return false
	})
}

// after returns the position of the next character that is not blank.
func (c *cursor) after() int {
	for c.at < len(c.text) {
		switch c.text[c.at] {
		case ' ', '\t', '\n', '\r':
			c.at++
		default:
			return c.at
		}
	}
	return c.at
}

// take consumes the next character if it is char, and reports whether it was.
func (c *cursor) take(char byte) bool {
	if c.after() < len(c.text) && c.text[c.at] == char {
		c.at++
		return true
	}
	return false
}

func (c *cursor) ended() bool { return c.after() == len(c.text) }

// object parses an object, calling read for the value of each member. It fails if a name occurs twice.
func (c *cursor) object(read func(name string) bool) bool {
	if !c.take('{') {
		return false
	}
	if c.take('}') {
		return true
	}
	const most = 6 // most members of any expected object
	var seen [most]string
	for n := range most {
		if !c.quoted(&seen[n]) {
			return false
		}
		for _, before := range seen[:n] {
			if before == seen[n] {
				return false
			}
		}
		if !c.take(':') || !read(seen[n]) {
			return false
		}
		if c.take('}') {
			return true
		}
		if !c.take(',') {
			return false
		}
	}
	return false
}

func (c *cursor) array(read func() bool) bool {
	if !c.take('[') {
		return false
	}
	if c.take(']') {
		return true
	}
	for read() {
		if c.take(']') {
			return true
		}
		if !c.take(',') {
			return false
		}
	}
	return false
}

// quoted parses a string.
func (c *cursor) quoted(to *string) bool {
	if !c.take('"') {
		return false
	}
	for i := c.at; i < len(c.text); i++ {
		switch char := c.text[i]; {
		case char == '"':
			*to = c.text[c.at:i]
			c.at = i + 1
			return true
		case char < ' ':
			return false
		}
	}
	return false
}

// number parses a whole number of at most 18 digits.
func (c *cursor) number(to *int64) bool {
	const digits = 18
	negative := c.take('-')
	from := c.at
	if !negative {
		from = c.after()
	}
	var n int64
	i := from
	for ; i < len(c.text) && i-from < digits && c.text[i] >= '0' && c.text[i] <= '9'; i++ {
		n = 10*n + int64(c.text[i]-'0')
	}
	if i == from || i > from+1 && c.text[from] == '0' {
		return false
	}
	if i < len(c.text) && !strings.ContainsRune(",} \t\n\r", rune(c.text[i])) {
		return false // more digits, a fraction, an exponent
	}
	if negative {
		n = -n
	}
	*to, c.at = n, i
	return true
}
