package jsonata

import (
	"math"

	"stepback/jsonvalue"
)

// value is a value during evaluation: nil (undefined), null, bool, float64, string, *array, *object, *tuple or a
// callable.
type value any

// null is JSON null; undefined is the nil value.
type null struct{}

// array is a JSON array, or a sequence: the list of results that a path builds.
type array struct {
	items []value
	// sequence is true for a list that collapses to its only element. keepSingleton is true for one that must not
	// collapse.
	sequence, keepSingleton bool
	// tuples is true for a list of *tuple.
	tuples bool
	// cons is true for an array built by a constructor inside a path. It is not flattened into the path's sequence.
	cons bool
	// outer is true for the sequence that wraps an input document if the document is an array.
	outer bool
	// source is the tree of a lazily read array.
	source *jsonvalue.Value
}

func newArray(items []value) *array     { return &array{items: items} }
func newSequence(items ...value) *array { return &array{items: items, sequence: true} }
func (a *array) push(v value)           { a.items = append(a.items, v) }

// list returns the elements. The caller must not change them.
func (a *array) list() []value {
	if a.items == nil && a.source != nil {
		elements := a.source.Elements()
		a.items = make([]value, len(elements))
		for i, e := range elements {
			a.items[i] = fromJSON(e)
		}
	}
	return a.items
}

func (a *array) len() int {
	if a.source != nil {
		return a.source.Len()
	}
	return len(a.items)
}

// fromJSON wraps a JSON tree as a value. Arrays and objects are read lazily.
func fromJSON(v jsonvalue.Value) value {
	switch v.Kind() {
	case jsonvalue.Null:
		return null{}
	case jsonvalue.Bool:
		return v.Bool()
	case jsonvalue.Number:
		return v.Float()
	case jsonvalue.String:
		return v.Text()
	case jsonvalue.Array:
		a := &struct { // one allocation for both
			array
			tree jsonvalue.Value
		}{tree: v}
		a.source = &a.tree
		return &a.array
	default:
		o := &struct {
			object
			tree jsonvalue.Value
		}{tree: v}
		o.source = &o.tree
		return &o.object
	}
}

// toJSON returns a value as a tree, as JSON.stringify would write it. Undefined and functions become null inside
// arrays and are left out of objects. Numbers that JSON cannot represent become null. toJSON returns false if the
// value itself is undefined or a function.
func toJSON(v value) (jsonvalue.Value, bool) {
	switch v := v.(type) {
	case null:
		return jsonvalue.Value{}, true
	case bool:
		return jsonvalue.OfBool(v), true
	case float64:
		return numberJSON(v), true
	case string:
		return jsonvalue.OfString(wellFormed(v)), true
	case *array:
		return arrayJSON(v), true
	case *object:
		return objectJSON(v), true
	case *tuple:
		return objectJSON(v.object()), true
	default:
		return jsonvalue.Value{}, false
	}
}

func arrayJSON(a *array) jsonvalue.Value {
	if a.source != nil {
		return *a.source
	}
	elements := make([]jsonvalue.Value, len(a.items))
	for i, e := range a.items {
		elements[i], _ = toJSON(e)
	}
	return jsonvalue.OfArray(elements)
}

func objectJSON(o *object) jsonvalue.Value {
	if o.source != nil {
		return *o.source
	}
	b := jsonvalue.NewObject(len(o.keys))
	for i, k := range o.names() {
		if member, ok := toJSON(o.vals[i]); ok {
			b.Set(wellFormed(k), member)
		}
	}
	return b.Value()
}

// withNamedNumbers returns a result in which numbers that JSON cannot represent are replaced by their names, such
// as "Infinity".
func withNamedNumbers(v value) value {
	switch v := v.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return formatNumber(v)
		}
		return v
	case *array:
		if v.source != nil {
			return v
		}
		items := make([]value, len(v.items))
		for i, e := range v.items {
			items[i] = withNamedNumbers(e)
		}
		return newArray(items)
	case *object:
		if v.source != nil {
			return v
		}
		o := newObject(len(v.keys))
		for i, k := range v.names() {
			o.set(k, withNamedNumbers(v.vals[i]))
		}
		return o
	default:
		return v
	}
}

// tuple is one element of a tuple stream. It holds the context item, and the variables bound by @, # and % on the
// way to it.
type tuple struct {
	context value
	names   []string
	vals    []value
}

func (t *tuple) clone() *tuple {
	return &tuple{
		context: t.context,
		names:   append(make([]string, 0, len(t.names)+1), t.names...),
		vals:    append(make([]value, 0, len(t.vals)+1), t.vals...),
	}
}

func (t *tuple) get(name string) value {
	for i, n := range t.names {
		if n == name {
			return t.vals[i]
		}
	}
	return nil
}

func (t *tuple) set(name string, v value) {
	for i, n := range t.names {
		if n == name {
			t.vals[i] = v
			return
		}
	}
	t.names = append(t.names, name)
	t.vals = append(t.vals, v)
}

// merge sets all of other's bindings, including its context.
func (t *tuple) merge(other *tuple) {
	t.context = other.context
	for i, n := range other.names {
		t.set(n, other.vals[i])
	}
}

// object returns the tuple in the reference implementation's representation.
func (t *tuple) object() *object {
	o := newObject(len(t.names) + 1)
	o.set("@", t.context)
	for i, n := range t.names {
		o.set(n, t.vals[i])
	}
	return o
}
