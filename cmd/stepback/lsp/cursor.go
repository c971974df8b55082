package lsp

import (
	"strings"

	"stepback/asl/source"
	"stepback/cmd/stepback/definitions"
	"stepback/internal/lazyregexp"
	"stepback/jsonvalue"
)

// marker is the word that stands for the cursor in texts that cursorIn parses.
const marker = "StepbackCursor"

// cursor is the place of a definition at which the user writes.
type cursor struct {
	file *definitions.File
	root jsonvalue.Value
	// at is the path of the value or member at the cursor. key is true if its name is being written.
	at  source.Path
	key bool
	// before and after are the parts of the written name or string.
	before, after string
}

// cursorIn returns the place at an offset. While a user writes, the text is rarely complete: cursorIn puts the marker
// at the cursor and adds the quotes, colons, commas and brackets that the text may lack, until it can be parsed. It
// returns nil if the place is not in a definition.
func (d *document) cursorIn(offset int) *cursor {
	if len(d.text) > maxText {
		return nil
	}
	seen := map[string]bool{}
	for _, text := range d.completed(offset) {
		if seen[text] {
			continue
		}
		seen[text] = true
		files, _ := definitions.InText(d.path, text)
		for i := range files {
			f := &files[i]
			if len(f.Document.Problems) > 0 || !strings.Contains(f.Text, marker) {
				continue
			}
			root, err := jsonvalue.Parse(f.Text)
			if err != nil {
				continue
			}
			c := &cursor{file: f, root: root}
			if c.find(nil, root) {
				return c
			}
		}
	}
	return nil
}

// find looks for the marker in a value.
func (c *cursor) find(at source.Path, v jsonvalue.Value) bool {
	found := func(at source.Path, text string, key bool) (ok bool) {
		if c.before, c.after, ok = strings.Cut(text, marker); ok {
			c.at, c.key = at, key
		}
		return ok
	}
	switch v.Kind() {
	case jsonvalue.String:
		return found(at, v.Text(), false)
	case jsonvalue.Array:
		for i := range v.Len() {
			if c.find(at.Join(source.Element(i)), v.At(i)) {
				return true
			}
		}
	case jsonvalue.Object:
		for i, key := range v.Keys() {
			if p := at.Join(source.Member(key)); found(p, key, true) || c.find(p, v.At(i)) {
				return true
			}
		}
	default:
	}
	return false
}

// get returns the value at a path; null if there is none.
func (c *cursor) get(at source.Path) jsonvalue.Value {
	v := c.root
	for _, s := range at {
		switch {
		case s.Element && v.Kind() == jsonvalue.Array && s.Index < v.Len():
			v = v.At(s.Index)
		case !s.Element:
			v = member(v, s.Name)
		default:
			return jsonvalue.Value{}
		}
	}
	return v
}

// state returns the path of the innermost state around the cursor; nil if there is none.
func (c *cursor) state() source.Path {
	for i := len(c.at) - 1; i > 0; i-- {
		if c.at[i-1] == source.Member("States") && !c.at[i].Element && (i == 1 || isGraph(c.at[:i-1])) {
			return c.at[:i+1]
		}
	}
	return nil
}

// isGraph reports whether the object at a path has States.
func isGraph(at source.Path) bool {
	last := at[len(at)-1]
	return last == source.Member("ItemProcessor") || last == source.Member("Iterator") ||
		last.Element && len(at) > 1 && at[len(at)-2] == source.Member("Branches")
}

// yamlKey matches the part of a line before the cursor where YAML has the name of a member.
var yamlKey = lazyregexp.New(`(?:^\s*(?:- +)*|[{,]\s*)["']?[\w$.]*$`)

// completed returns texts with the marker at an offset, of which one can probably be parsed. The first are the
// likeliest.
func (d *document) completed(offset int) []string {
	start := d.starts[d.position(offset).Line]
	line := d.text[start:offset]
	rest, _, _ := strings.Cut(d.text[offset:], "\n")
	rest = strings.TrimSuffix(rest, "\r")
	head, tail := d.text[:offset], d.text[offset:]
	plain := head + marker + tail
	texts := []string{}
	isYAML := strings.HasSuffix(d.path, ".yaml") || strings.HasSuffix(d.path, ".yml") ||
		!strings.HasSuffix(d.path, ".json") && !strings.HasPrefix(strings.TrimSpace(d.text), "{")
	if isYAML {
		word := len(rest) - len(strings.TrimLeft(rest, wordLetters))
		quote := ""
		for _, q := range []string{`"`, `'`} {
			if strings.Count(line, q)%2 == 1 && !strings.Contains(rest, q) {
				quote = q
			}
		}
		named := head + marker + rest[:word] + quote + ": 0" + tail[word:]
		if yamlKey.MatchString(line) && !strings.HasPrefix(strings.TrimLeft(rest[word:], `"'`), ":") {
			texts = append(texts, named, plain)
		} else {
			texts = append(texts, plain, named)
		}
		return append(texts,
			head+marker+rest+quote+tail[len(rest):],
			head+marker+": 0", head+marker+quote, // without the lines that follow
		)
	}
	texts = append(texts, plain)
	for _, quote := range []string{`"`, `\"`} {
		texts = append(texts, jsonVariants(head, line, tail, quote)...)
	}
	// Without the text that follows, closed with the brackets that are open at the cursor.
	for _, head := range jsonVariants(head, line, "", `"`) {
		texts = append(texts, head+closing(head))
	}
	return texts
}

// wordLetters are the letters of fields, functions and variables.
const wordLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$."

// jsonVariants returns texts with the marker between head and tail, as a string or the name of a member. line is the
// last line of head. quote is how the text writes quotes: in a definition that is a string they have a backslash.
func jsonVariants(head, line, tail, quote string) []string {
	open := quoted(line, quote)
	// token is the text up to the string or word at the cursor, and written what there is of it.
	token := strings.TrimRight(head, wordLetters)
	written := head[len(token):]
	if open {
		i := strings.LastIndex(head, quote)
		token, written = head[:i], head[i+len(quote):]
	}
	word := len(tail) - len(strings.TrimLeft(tail, wordLetters))
	value := quote + written + marker + tail[:word] + quote
	tail = tail[word:]
	if open {
		tail = strings.TrimPrefix(tail, quote)
	}
	commas := [...]string{"", ","}
	texts := make([]string, 0, 2*len(commas)*len(commas))
	for _, comma := range commas {
		for _, next := range commas {
			texts = append(texts, token+comma+value+":0"+next+tail, token+comma+value+next+tail)
		}
	}
	return texts
}

// quoted reports whether a string is open at the end of a line of JSON, whose strings end on their lines.
func quoted(line, quote string) bool {
	open := false
	for i := 0; i < len(line); i++ {
		switch {
		case strings.HasPrefix(line[i:], quote):
			open = !open
			i += len(quote) - 1
		case line[i] == '\\':
			i++
		}
	}
	return open
}

// closing returns the brackets that close a JSON text.
func closing(text string) string {
	var open []byte
	quotes := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quotes && c == '\\':
			i++
		case c == '"':
			quotes = !quotes
		case quotes:
		case c == '{':
			open = append(open, '}')
		case c == '[':
			open = append(open, ']')
		case (c == '}' || c == ']') && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	for i, j := 0, len(open)-1; i < j; i, j = i+1, j-1 {
		open[i], open[j] = open[j], open[i]
	}
	return string(open)
}
