package item

import (
	"bytes"
	"slices"
	"strings"
)

// Invalid is the message of a ValidationException.
type Invalid string

// Error implements error.
func (e Invalid) Error() string { return string(e) }

// Kind is the type of an attribute value. The zero Kind means no value.
type Kind uint8

// The types of attribute values.
const (
	KindNone Kind = iota
	KindString
	KindNumber
	KindBinary
	KindBool
	KindNull
	KindList
	KindMap
	KindStringSet
	KindNumberSet
	KindBinarySet
)

var kindNames = [...]string{"", "S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"}

// String returns the name of the type in the API, such as S or BOOL.
func (k Kind) String() string { return kindNames[k] }

// KindOf returns the type with a name; KindNone if there is none.
func KindOf(name string) Kind { return Kind(max(0, slices.Index(kindNames[:], name))) }

// Element returns the type of a set's elements; KindNone for a type that is not a set.
func (k Kind) Element() Kind {
	switch k {
	case KindStringSet, KindNumberSet, KindBinarySet:
		return KindString + k - KindStringSet
	default:
		return KindNone
	}
}

// Value is an attribute value. The zero Value means no value.
type Value struct {
	Kind Kind
	// Text is a string, the digits of a number as formatted by Number, or the bytes of a binary value.
	Text string
	Bool bool
	// List holds the elements of a list, or the sorted elements of a set.
	List []Value
	Map  Item
}

// Item maps names to the attributes of an item or to the members of a map.
type Item map[string]Value

// String returns a string value.
func String(s string) Value { return Value{Kind: KindString, Text: s} }

// Set returns a set of values of one type, without duplicates.
func Set(kind Kind, elements []Value) Value {
	sorted := slices.SortedFunc(slices.Values(elements), Compare)
	return Value{Kind: kind, List: slices.CompactFunc(sorted, func(a, b Value) bool { return a.Text == b.Text })}
}

// Compare compares two strings, numbers or binary values of one type: -1, 0 or 1.
func Compare(a, b Value) int {
	if a.Kind == KindNumber {
		return compareNumbers(a.Text, b.Text)
	}
	return strings.Compare(a.Text, b.Text)
}

// Ordered reports whether values of the type have an order.
func (k Kind) Ordered() bool { return k == KindString || k == KindNumber || k == KindBinary }

// Equal reports whether two values are equal: of the same type, numbers by value, sets in any order.
func Equal(a, b Value) bool {
	if a.Kind != b.Kind || a.Text != b.Text || a.Bool != b.Bool {
		return false
	}
	return slices.EqualFunc(a.List, b.List, Equal) && (a.Kind != KindMap || EqualItems(a.Map, b.Map))
}

// EqualItems reports whether two items have the same attributes.
func EqualItems(a, b Item) bool {
	if len(a) != len(b) {
		return false
	}
	for name, value := range a {
		other, ok := b[name]
		if !ok || !Equal(value, other) {
			return false
		}
	}
	return true
}

// Contains reports whether a set or a list contains an element, or a string or binary value contains the other one.
func (v Value) Contains(other Value) bool {
	switch v.Kind {
	case KindString, KindBinary:
		return v.Kind == other.Kind && strings.Contains(v.Text, other.Text)
	case KindList, KindStringSet, KindNumberSet, KindBinarySet:
		return slices.ContainsFunc(v.List, func(e Value) bool { return Equal(e, other) })
	default:
		return false
	}
}

// The size of a list or a map in addition to its elements, and for each element.
const (
	containerBytes = 3
	elementBytes   = 1
)

// Size returns the size of a value in bytes, by DynamoDB's rules.
func (v Value) Size() int {
	switch v.Kind {
	case KindString, KindBinary:
		return len(v.Text)
	case KindNumber:
		return numberSize(v.Text)
	case KindBool, KindNull:
		return 1
	case KindList:
		n := containerBytes
		for _, e := range v.List {
			n += elementBytes + e.Size()
		}
		return n
	case KindMap:
		return containerBytes + elementBytes*len(v.Map) + v.Map.Size()
	default:
		n := 0
		for _, e := range v.List {
			n += e.Size()
		}
		return n
	}
}

// Size returns the size of an item in bytes: its names and values.
func (i Item) Size() int {
	n := 0
	for name, value := range i {
		n += len(name) + value.Size()
	}
	return n
}

// numberSize returns the size of a number: one byte for each two digits, one more, and one for a negative sign.
func numberSize(text string) int {
	negative := strings.HasPrefix(text, "-")
	text = strings.TrimPrefix(text, "-")
	whole, fraction, _ := strings.Cut(text, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	digits = strings.TrimRight(digits, "0")
	if digits == "" {
		return 1
	}
	n := 1 + (len(digits)+1)/2
	if negative {
		n++
	}
	return n
}

// Names returns the names of the attributes, sorted.
func (i Item) Names() []string {
	names := make([]string, 0, len(i))
	for name := range i {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Bytes returns a copy of the bytes of a binary value.
func (v Value) Bytes() []byte { return bytes.Clone([]byte(v.Text)) }
