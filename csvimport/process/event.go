package process

import (
	"strings"

	"stepback/csvimport"
)

// ReadText reads an event whose members all have the usual names and kinds, and reports whether it was one. The text is
// UTF-8 without any backslash. Functions read the rows of whole files so, in a fraction of the time of encoding/json,
// which reads, or refuses, every other event.
func (e *Event) ReadText(text string) bool {
	c := cursor{text: text}
	return c.object(func(name string) bool {
		switch name {
		case "source":
			return c.source(&e.Source)
		case "run":
			return c.quoted(&e.Run)
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

// attempt reads past the member that tells which attempt it is: it is for the guard in front of the step, which needs
// it if the step fails.
func (c *cursor) attempt() bool {
	var text string
	var n int64
	return c.object(func(name string) bool {
		switch name {
		case "state", "entered":
			return c.quoted(&text)
		case "retries":
			return c.number(&n)
		}
		return false
	})
}

// cursor reads a JSON text of known members from left to right. What it does not expect it does not read.
type cursor struct {
	text string
	at   int
}

// usualItem is how many bytes an item has, and atOnce for how many items, at most, there is room at a time.
const (
	usualItem = 80
	atOnce    = 512
)

// items reads an array of items. What they point to lies side by side.
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
		}
		return false
	})
}

// after is where the next character is that is not blank.
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

// take reads one character.
func (c *cursor) take(char byte) bool {
	if c.after() < len(c.text) && c.text[c.at] == char {
		c.at++
		return true
	}
	return false
}

func (c *cursor) ended() bool { return c.after() == len(c.text) }

// object reads an object, with the value of each member read by read. A name that comes twice is unusual.
func (c *cursor) object(read func(name string) bool) bool {
	if !c.take('{') {
		return false
	}
	if c.take('}') {
		return true
	}
	const most = 5 // members of any object that is expected
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

// quoted reads a string.
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

// number reads a whole number of at most 18 digits.
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
