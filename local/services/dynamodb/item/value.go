package item

import (
	"bytes"
	"slices"
	"strings"

	"stepback/internal/sorting"
)

// Invalid is the message of a ValidationException.
type Invalid string

// Error implements error.
func (e Invalid) Error() string { return string(e) }

// Kind is the type of an attribute value. The zero Kind is that of no value.
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

// String is the name of the type in the API, such as S or BOOL.
func (k Kind) String() string { return kindNames[k] }

// KindOf is the type of a name; KindNone for a name of none.
func KindOf(name string) Kind { return Kind(max(0, slices.Index(kindNames[:], name))) }

// Element is the type of a set's elements; KindNone for what is no set.
func (k Kind) Element() Kind {
	switch k {
	case KindStringSet, KindNumberSet, KindBinarySet:
		return KindString + k - KindStringSet
	default:
		return KindNone
	}
}

// Value is an attribute value. The zero Value is none.
type Value struct {
	Kind Kind
	// Text is a string, the digits of a number as Number writes them, or the bytes of a binary value.
	Text string
	Bool bool
	// List has the elements of a list, or those of a set in their order.
	List []Value
	Map  Item
}

// Item is the attributes of an item, or of a map, by their names.
type Item map[string]Value

// String returns the value of a string.
func String(s string) Value { return Value{Kind: KindString, Text: s} }

// Set returns a set of values of one type, without those that are there twice.
func Set(kind Kind, elements []Value) Value {
	sorted := sorting.Collect(slices.Values(elements), Compare)
	return Value{Kind: kind, List: slices.CompactFunc(sorted, func(a, b Value) bool { return a.Text == b.Text })}
}

// Compare orders two strings, numbers or binary values of one type: -1, 0 or 1.
func Compare(a, b Value) int {
	if a.Kind == KindNumber {
		return compareNumbers(a.Text, b.Text)
	}
	return strings.Compare(a.Text, b.Text)
}

// Ordered reports whether values of the type have an order.
func (k Kind) Ordered() bool { return k == KindString || k == KindNumber || k == KindBinary }

// Equal reports whether two values are the same: of one type, numbers by value, sets whatever their order.
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

// Contains reports whether a set has an element, a list an equal one, or a string or binary value the other one in it.
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

// What a list or a map counts besides its elements, and for each of them.
const (
	containerBytes = 3
	elementBytes   = 1
)

// Size is how many bytes a value counts.
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

// Size is how many bytes an item counts: its names and values.
func (i Item) Size() int {
	n := 0
	for name, value := range i {
		n += len(name) + value.Size()
	}
	return n
}

// numberSize is a byte for each two digits, one more, and one for a sign.
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

// Names are the names of the attributes in their order.
func (i Item) Names() []string {
	names := make([]string, 0, len(i))
	for name := range i {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Bytes are those of a binary value.
func (v Value) Bytes() []byte { return bytes.Clone([]byte(v.Text)) }
