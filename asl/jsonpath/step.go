package jsonpath

import (
	"strings"

	"stepback/jsonvalue"
)

// step is one part of a path after its root. Each kind of step has its own file.
type step interface {
	// apply evaluates the step at position i of e.steps on v. It passes the selected nodes to e.next.
	apply(e *evaluation, i int, v jsonvalue.Value) error
	// scans reports whether a recursive descent that reaches v applies the step at position i to it.
	scans(e *evaluation, i int, v jsonvalue.Value) (bool, error)
	// definite reports whether the step selects at most one node. leaf is true if it is the path's last step.
	definite(leaf bool) bool
	// appendTo writes the step in Jayway's normal form, as in $['a'][0].
	appendTo(b *strings.Builder)
}

// steps is the compiled list of steps, with properties of it that evaluation uses.
type steps struct {
	list     []step
	exact    int  // number of definite steps at the start
	definite bool // all steps are definite
	atItem   bool // starts at a filter's item (@) instead of the root
	function bool // the last step is a function
	// plain is the same path in a simpler form; nil unless it consists only of single members and indexes.
	plain []plainStep
}

type plainStep struct {
	name  string
	index int
	isKey bool
}

func newSteps(list []step, atItem bool) steps {
	s := steps{list: invertScan(list), atItem: atItem}
	last := len(s.list) - 1
	for s.exact <= last && s.list[s.exact].definite(s.exact == last) {
		s.exact++
	}
	s.definite = s.exact == len(s.list)
	if last >= 0 {
		_, s.function = s.list[last].(*functionStep)
	}
	s.plain = plainSteps(s.list)
	return s
}

func plainSteps(list []step) []plainStep {
	plain := make([]plainStep, 0, len(list))
	for _, s := range list {
		switch s := s.(type) {
		case *propertyStep:
			if len(s.names) > 1 {
				return nil
			}
			plain = append(plain, plainStep{name: s.names[0], isKey: true})
		case *indexStep:
			if len(s.indexes) > 1 {
				return nil
			}
			plain = append(plain, plainStep{index: s.indexes[0]})
		default:
			return nil
		}
	}
	return plain
}

// walk follows a plain path without allocating. It returns false if the path selects nothing, for any reason.
func (s *steps) walk(v jsonvalue.Value) (jsonvalue.Value, bool) {
	for i := range s.plain {
		p := &s.plain[i]
		if p.isKey {
			child, ok := v.Get(p.name)
			if !ok {
				return jsonvalue.Value{}, false
			}
			v = child
			continue
		}
		at, ok := arrayPosition(v, p.index)
		if !ok {
			return jsonvalue.Value{}, false
		}
		v = v.At(at)
	}
	return v, true
}

// arrayPosition converts an index to an existing position in the array v. A negative index counts from the end.
func arrayPosition(v jsonvalue.Value, index int) (int, bool) {
	if v.Kind() != jsonvalue.Array {
		return 0, false
	}
	if index < 0 {
		index += v.Len()
	}
	return index, index >= 0 && index < v.Len()
}

// textFrom returns the steps from position i on in normal form.
func (s *steps) textFrom(i int) string {
	var b strings.Builder
	for _, st := range s.list[i:] {
		st.appendTo(&b)
	}
	return b.String()
}

func (s *steps) text() string {
	if s.atItem {
		return "@" + s.textFrom(0)
	}
	return "$" + s.textFrom(0)
}

// location returns the path of the node reached before step i. It requires that all steps before i are definite, so
// that the steps determine the node. As in Jayway, member names are in single quotes, and functions are omitted.
func (s *steps) location(i int) string {
	b := strings.Builder{}
	b.WriteByte('$')
	for _, st := range s.list[:i] {
		switch st := st.(type) {
		case *propertyStep:
			b.WriteString("['" + st.names[0] + "']")
		case *functionStep:
		default:
			st.appendTo(&b)
		}
	}
	return b.String()
}
