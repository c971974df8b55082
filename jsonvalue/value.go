// Package jsonvalue implements the JSON tree that paths, intrinsics and expressions work on: immutable values that
// keep the order of object keys and the text of numbers (1.0 stays 1.0, a 20-digit integer keeps every digit).
//
// It never converts a number to binary floating point unless asked to, never reorders keys and never mutates a
// value that it has returned. A change (With, WithIndex) copies the nodes on the path to the changed value and
// shares the rest.
package jsonvalue

import (
	"maps"
	"slices"
	"strconv"
)

// Kind is one of JSON's six kinds of values.
type Kind uint8

// The six kinds of JSON. The zero Value is null.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// String returns the kind's JSON name in lower case, as used in messages.
func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Bool:
		return "boolean"
	case Number:
		return "number"
	case String:
		return "string"
	case Array:
		return "array"
	default:
		return "object"
	}
}

// WithArticle returns the kind's name with its indefinite article: "an array", "a string"; "null" has none.
func (k Kind) WithArticle() string {
	switch k {
	case Null:
		return "null"
	case Array, Object:
		return "an " + k.String()
	default:
		return "a " + k.String()
	}
}

// Value is one immutable JSON value. It is small (five words) and meant to be passed by value.
type Value struct {
	kind Kind
	flag bool
	text string
	node *node
}

// node holds the children of an array (keys nil) or an object (keys and vals of equal length, in source order).
type node struct {
	keys  []string
	vals  []Value
	index map[string]int

	raw *rawText // of a value that has not been accessed yet; see ParseCompact
}

// inner returns the node of an array or object, with its children parsed.
func (v Value) inner() *node {
	if v.node.raw != nil {
		v.node.raw.open(v.node)
	}
	return v.node
}

// indexFrom is the number of keys from which an object gets a hash index; below it a scan is faster.
const indexFrom = 12

// OfBool returns a boolean.
func OfBool(b bool) Value { return Value{kind: Bool, flag: b} }

// OfString returns a string.
func OfString(s string) Value { return Value{kind: String, text: s} }

// OfInt returns an integer number.
func OfInt(i int64) Value { return Value{kind: Number, text: strconv.FormatInt(i, 10)} }

// OfNumberText returns a number with exactly this text, which must be a valid JSON number; it is not checked.
func OfNumberText(text string) Value { return Value{kind: Number, text: text} }

// OfArray returns an array that takes ownership of elements: the caller must not change the slice afterwards.
func OfArray(elements []Value) Value { return Value{kind: Array, node: &node{vals: elements}} }

// Kind returns the value's kind.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether the value is JSON null.
func (v Value) IsNull() bool { return v.kind == Null }

// Bool returns the boolean; false for other kinds.
func (v Value) Bool() bool { return v.flag }

// Text returns a string's content or a number's literal text; empty for other kinds.
func (v Value) Text() string { return v.text }

// Len returns the number of elements of an array or members of an object; 0 for other kinds.
func (v Value) Len() int {
	if v.node == nil {
		return 0
	}
	return len(v.inner().vals)
}

// Elements returns an array's elements or an object's member values in order. The slice must not be changed.
func (v Value) Elements() []Value {
	if v.node == nil {
		return nil
	}
	return v.inner().vals
}

// Keys returns an object's keys in order; nil for other kinds. The slice must not be changed.
func (v Value) Keys() []string {
	if v.node == nil {
		return nil
	}
	return v.inner().keys
}

// At returns element i of an array (or the i-th member value of an object); i must be in range.
func (v Value) At(i int) Value { return v.inner().vals[i] }

// Get returns the member with this name. It returns false for a missing member and for anything but an object.
func (v Value) Get(key string) (Value, bool) {
	if v.kind != Object {
		return Value{}, false
	}
	if i := v.inner().find(key); i >= 0 {
		return v.inner().vals[i], true
	}
	return Value{}, false
}

func (n *node) find(key string) int {
	if n.index != nil {
		if i, ok := n.index[key]; ok {
			return i
		}
		return -1
	}
	for i, k := range n.keys {
		if k == key {
			return i
		}
	}
	return -1
}

// With returns a copy of the object with the member set: an existing key keeps its position, a new one is appended.
// If v is not an object, the result has only this member.
func (v Value) With(key string, member Value) Value {
	if v.kind != Object {
		b := NewObject(1)
		b.Set(key, member)
		return b.Value()
	}
	if i := v.inner().find(key); i >= 0 {
		// Keys and index of an object never change once it is built, so the copy shares them.
		n := &node{keys: v.inner().keys, vals: slices.Clone(v.inner().vals), index: v.inner().index}
		n.vals[i] = member
		return Value{kind: Object, node: n}
	}
	b := NewObject(v.Len() + 1)
	b.n.keys = append(b.n.keys, v.inner().keys...)
	b.n.vals = append(b.n.vals, v.inner().vals...)
	if v.inner().index != nil {
		b.n.index = maps.Clone(v.inner().index)
	}
	b.Set(key, member)
	return b.Value()
}

// WithIndex returns a copy of the array with element i replaced; i must be in range.
func (v Value) WithIndex(i int, element Value) Value {
	vals := make([]Value, len(v.inner().vals))
	copy(vals, v.inner().vals)
	vals[i] = element
	return OfArray(vals)
}
