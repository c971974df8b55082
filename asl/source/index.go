package source

import (
	"strings"

	"stepback/jsonvalue"
)

// Span is a range of bytes in a text, from Start up to but not including End.
type Span struct {
	Start, End int
}

// Index holds the position of every value of a JSON text.
type Index struct {
	root *node
}

// node is one value with its position. For a member it also holds the position of the name.
type node struct {
	name     string
	key      Span
	value    Span
	children []*node
	byName   map[string]*node // only in objects; of equal names the last, which the JSON parser keeps
}

// NewIndex returns the index of a text. The text must be valid JSON; the index of any other text is useless but
// harmless.
func NewIndex(text string) *Index {
	s := scanner{text: text}
	s.space()
	return &Index{root: s.value()}
}

// Value returns the position of the path's value. If it does not exist, Value returns the position of the last
// existing value on the path.
func (x *Index) Value(p Path) Span {
	n, _ := x.find(p)
	return n.value
}

// Key returns the position of the member name (with its quotes) at the end of the path. Array elements, the root
// and missing members have no name; for these it returns the result of Value.
func (x *Index) Key(p Path) Span {
	n, complete := x.find(p)
	if complete && n.key.End > 0 {
		return n.key
	}
	return n.value
}

func (x *Index) find(p Path) (n *node, complete bool) {
	n = x.root
	for _, step := range p {
		next := n.child(step)
		if next == nil {
			return n, false
		}
		n = next
	}
	return n, true
}

func (n *node) child(step Step) *node {
	if !step.Element {
		return n.byName[step.Name]
	}
	if n.byName == nil && step.Index < len(n.children) {
		return n.children[step.Index]
	}
	return nil
}

// Repeated calls found for every member whose name already occurred in the same object, in the order of the text.
// object is the path of that object.
func (x *Index) Repeated(found func(object Path, name string, key Span)) {
	x.root.repeated(nil, found)
}

func (n *node) repeated(p Path, found func(Path, string, Span)) {
	if n.byName == nil {
		for i, c := range n.children {
			c.repeated(p.Join(Element(i)), found)
		}
		return
	}
	seen := make(map[string]bool, len(n.children))
	for _, c := range n.children {
		if seen[c.name] {
			found(p, c.name, c.key)
		}
		seen[c.name] = true
		c.repeated(p.Join(Member(c.name)), found)
	}
}

// scanner walks over valid JSON without converting values.
type scanner struct {
	text string
	i    int
}

func (s *scanner) space() {
	for s.i < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.i]) >= 0 {
		s.i++
	}
}

func (s *scanner) value() *node {
	n := &node{value: Span{Start: s.i}}
	switch {
	case s.i >= len(s.text):
	case s.text[s.i] == '{':
		n.byName = map[string]*node{}
		s.members(n, '}')
	case s.text[s.i] == '[':
		s.members(n, ']')
	case s.text[s.i] == '"':
		s.str()
	default:
		for s.i < len(s.text) && strings.IndexByte(" \t\r\n,]}", s.text[s.i]) < 0 {
			s.i++
		}
	}
	n.value.End = s.i
	return n
}

// members reads an array's elements or an object's members up to the closing bracket.
func (s *scanner) members(n *node, closing byte) {
	s.i++
	for s.i < len(s.text) {
		s.space()
		if s.i >= len(s.text) || s.text[s.i] == closing {
			break
		}
		before := s.i
		if closing == '}' {
			s.member(n)
		} else {
			n.children = append(n.children, s.value())
		}
		s.space()
		if s.i < len(s.text) && s.text[s.i] == ',' || s.i == before {
			s.i++
		}
	}
	s.i = min(s.i+1, len(s.text))
}

func (s *scanner) member(n *node) {
	key := Span{Start: s.i}
	s.str()
	key.End = s.i
	s.space()
	if s.i < len(s.text) && s.text[s.i] == ':' {
		s.i++
	}
	s.space()
	c := s.value()
	c.key, c.name = key, unquote(s.text[key.Start:key.End])
	n.children = append(n.children, c)
	n.byName[c.name] = c
}

// str skips a string with its quotes.
func (s *scanner) str() {
	s.i++
	for s.i < len(s.text) && s.text[s.i] != '"' {
		if s.text[s.i] == '\\' {
			s.i++
		}
		s.i++
	}
	s.i = min(s.i+1, len(s.text))
}

func unquote(quoted string) string {
	if strings.IndexByte(quoted, '\\') < 0 {
		return strings.Trim(quoted, `"`)
	}
	v, err := jsonvalue.Parse(quoted)
	if err != nil {
		return quoted
	}
	return v.Text()
}
