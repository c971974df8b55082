package eventpattern

import (
	"strings"

	"stepback/jsonvalue"
)

// event holds the values of the fields that a pattern tests.
type event struct {
	values [][]item // by field
	judged []verdict
	arrays int  // number of arrays
	within bool // some values are within objects of arrays
}

// item is a value of a field, with the array elements that contain it.
type item struct {
	value jsonvalue.Value
	in    *element
}

// element is the position of an object or an array within an array.
type element struct {
	array, index int
	outer        *element
}

// verdict is the result of matching a field with a list of values.
type verdict uint8

const (
	unknown verdict = iota
	yes
	no
)

func (e *event) clear() {
	for i := range e.values {
		clear(e.values[i])
		e.values[i] = e.values[i][:0]
	}
	clear(e.judged)
	e.arrays, e.within = 0, false
}

// object collects the values of an object's fields.
func (e *event) object(v jsonvalue.Value, at *node, in *element) {
	for i, key := range v.Keys() {
		next := at.inner[key]
		if next == nil {
			if next = at.along(key); next == nil {
				continue
			}
		}
		e.add(v.At(i), next, in)
	}
}

// along returns the node at the end of a name with dots. It returns nil if there is no such node, or if the name
// has no dots.
func (n *node) along(name string) *node {
	if strings.IndexByte(name, '.') < 0 {
		return nil
	}
	for step := range strings.SplitSeq(name, ".") {
		if n = n.inner[step]; n == nil {
			return nil
		}
	}
	return n
}

func (e *event) add(v jsonvalue.Value, at *node, in *element) {
	switch v.Kind() {
	case jsonvalue.Object:
		if at.inner != nil {
			e.object(v, at, in)
		}
	case jsonvalue.Array:
		array := e.arrays
		e.arrays++
		for i, element := range v.Elements() {
			e.element(element, at, in, array, i)
		}
	default:
		if at.name >= 0 {
			e.values[at.name] = append(e.values[at.name], item{v, in})
			e.within = e.within || in != nil
		}
	}
}

func (e *event) element(v jsonvalue.Value, at *node, in *element, array, index int) {
	switch v.Kind() {
	case jsonvalue.Object, jsonvalue.Array:
		in = &element{array, index, in}
	default:
	}
	e.add(v, at, in)
}

// matches reports whether all fields of a branch match.
func (e *event) matches(b branch) bool {
	for _, f := range b {
		if !e.any(f) {
			return false
		}
	}
	return !e.within || e.together(b)
}

// any reports whether a field has a matching value. A missing field matches if the pattern allows that.
func (e *event) any(f field) bool {
	if known := e.judged[f.values.number]; known != unknown {
		return known == yes
	}
	items := e.values[f.name]
	ok := f.values.absent && (len(items) == 0 || e.within)
	for i := 0; !ok && i < len(items); i++ {
		ok = f.values.match(items[i].value)
	}
	e.judged[f.values.number] = no
	if ok {
		e.judged[f.values.number] = yes
	}
	return ok
}

func (s *values) match(v jsonvalue.Value) bool {
	for _, t := range s.tests {
		if t.matches(v) {
			return true
		}
	}
	return false
}
