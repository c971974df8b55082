package eventpattern

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"stepback/jsonvalue"
)

// Limits are the limits of a pattern. The zero value means EventBridge's limits.
type Limits struct {
	// Bytes is the maximum length of a pattern's text; 0 means MaxBytes.
	Bytes int
	// Branches is the maximum number of combinations of $or; 0 means maxBranches.
	Branches int
}

// The limits of EventBridge: the length of a pattern in bytes, and the number of combinations of its $or.
const (
	MaxBytes    = 2048
	maxBranches = 1000
)

// Pattern is a compiled pattern. It is safe for concurrent use.
type Pattern struct {
	names    []string // the fields' names, sorted
	root     *node
	branches []branch // one of them has to match
	lists    int      // number of lists of values
	scratch  sync.Pool
}

// branch holds fields that all have to match, in the order of their names.
type branch []field

type field struct {
	name   int // index into names
	values *values
}

// values is the list of values that a field may have.
type values struct {
	number int
	tests  []test
	absent bool // the field may be missing
}

// test matches a value against one of the values in a pattern. It is never called with an object or an array.
type test interface{ matches(v jsonvalue.Value) bool }

// node is one level on the path to a field of the pattern.
type node struct {
	inner map[string]*node
	name  int // the field that ends here, or -1
}

// Compile parses the JSON text of a pattern. The error is an *Error.
func Compile(text string, l Limits) (*Pattern, error) {
	if longest := cmp.Or(l.Bytes, MaxBytes); len(text) > longest {
		reason := fmt.Sprintf("The pattern has %d bytes; it may have %d", len(text), longest)
		return nil, &Error{Reason: reason, Brief: reason}
	}
	r := &reader{source: text}
	if strings.TrimLeft(text, " \t\r\n") == "" {
		return nil, r.fail(notAnObject)
	}
	if _, err := jsonvalue.Parse(text); err != nil {
		var wrong *jsonvalue.SyntaxError
		if errors.As(err, &wrong) {
			return nil, &Error{Reason: wrong.TwoLines(text), Brief: wrong.Message, Line: wrong.Line,
				Column: wrong.Column}
		}
		return nil, &Error{Reason: err.Error(), Brief: err.Error()}
	}
	c := compiler{reader: r, limit: cmp.Or(l.Branches, maxBranches)}
	if err := c.pattern(); err != nil {
		return nil, err
	}
	if c.complex {
		return nil, &Error{Reason: tooComplex, Brief: tooComplex}
	}
	return c.build(), nil
}

// build builds the pattern from the parsed branches.
func (c *compiler) build() *Pattern {
	p := &Pattern{root: &node{name: -1}, lists: c.lists}
	for _, b := range c.branches {
		for name := range b {
			p.names = append(p.names, name)
		}
	}
	slices.Sort(p.names)
	p.names = slices.Compact(p.names)
	for i, name := range p.names {
		at := p.root
		for step := range strings.SplitSeq(name, ".") {
			at = at.step(step)
		}
		at.name = i
	}
	for _, b := range c.branches {
		fields := make(branch, 0, len(b))
		for name, values := range b {
			i, _ := slices.BinarySearch(p.names, name)
			fields = append(fields, field{i, values})
		}
		slices.SortFunc(fields, func(a, b field) int { return a.name - b.name })
		p.branches = append(p.branches, fields)
	}
	p.scratch.New = func() any {
		return &event{values: make([][]item, len(p.names)), judged: make([]verdict, p.lists)}
	}
	return p
}

func (n *node) step(name string) *node {
	next := n.inner[name]
	if next == nil {
		next = &node{name: -1}
		if n.inner == nil {
			n.inner = map[string]*node{}
		}
		n.inner[name] = next
	}
	return next
}

// Fields returns the names of the pattern's fields, with dots between the levels, sorted.
func (p *Pattern) Fields() []string { return slices.Clone(p.names) }

// Branches returns the number of combinations of the pattern's $or; 1 if there is none.
func (p *Pattern) Branches() int { return len(p.branches) }

// Values returns the number of combinations of values, which SNS limits. Within a branch, the lengths of the lists
// are multiplied; the products of all branches are added.
func (p *Pattern) Values() int {
	const most = 1 << 30
	total := 0
	for _, b := range p.branches {
		product := 1
		for _, f := range b {
			n := len(f.values.tests)
			if f.values.absent {
				n++
			}
			product = min(most, product*n)
		}
		total = min(most, total+product)
	}
	return total
}

// Match reports whether an event matches. A value that is not an object never matches.
func (p *Pattern) Match(v jsonvalue.Value) bool {
	if v.Kind() != jsonvalue.Object {
		return false
	}
	e := p.scratch.Get().(*event) //nolint:forcetypeassert // the pool has nothing else
	defer func() {
		e.clear()
		p.scratch.Put(e)
	}()
	e.object(v, p.root, nil)
	for _, b := range p.branches {
		if e.matches(b) {
			return true
		}
	}
	return false
}
