package jsonpath

import (
	"strings"

	"stepback/jsonvalue"
)

// step is one part of a path after its root. One file per kind.
type step interface {
	// apply evaluates the step at position i of e.steps on v and hands what it selects to e.next.
	apply(e *evaluation, i int, v jsonvalue.Value) error
	// scans reports whether recursive descent applies the step at position i to v.
	scans(e *evaluation, i int, v jsonvalue.Value) (bool, error)
	// definite reports whether the step selects one node at the most; leaf says that it is the path's last.
	definite(leaf bool) bool
	// appendTo writes the step in Jayway's normal form, as in $['a'][0].
	appendTo(b *strings.Builder)
}

// steps is the compiled list of steps with what evaluation wants to know about it.
type steps struct {
	list     []step
	exact    int  // number of definite steps at the start
	definite bool // all of them are
	atItem   bool // starts at the item of a filter (@) rather than at the root
	function bool // the last step is a function
	// plain is the same path when it consists of single members and indexes only; nil otherwise.
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

// walk follows a plain path without allocating. It reports false when the path leads nowhere, for whatever reason.
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

// arrayPosition turns an index, counted from the end when negative, into a position that exists in the array v.
func arrayPosition(v jsonvalue.Value, index int) (int, bool) {
	if v.Kind() != jsonvalue.Array {
		return 0, false
	}
	if index < 0 {
		index += v.Len()
	}
	return index, index >= 0 && index < v.Len()
}

// textFrom writes the steps from position i on in normal form.
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

// location writes the place reached before step i. It is asked for only while all steps before i are definite, so the
// steps themselves say where that is. Jayway writes member names in single quotes here, and functions not at all.
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
