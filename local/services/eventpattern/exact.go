package eventpattern

import (
	"net/netip"

	"stepback/jsonvalue"
)

// plainText matches a text that is equal to it.
type plainText string

func (t plainText) matches(v jsonvalue.Value) bool {
	return v.Kind() == jsonvalue.String && v.Text() == string(t)
}

// exactText returns the test for a text among the values of a field. Texts that are addresses match in any notation.
func exactText(s string) test {
	if a, ok := address(s); ok {
		return block{a, a}
	}
	return plainText(s)
}

type exactBool bool

func (t exactBool) matches(v jsonvalue.Value) bool {
	return v.Kind() == jsonvalue.Bool && v.Bool() == bool(t)
}

type exactNull struct{}

func (exactNull) matches(v jsonvalue.Value) bool { return v.IsNull() }

// literal matches a number by its text, because it is too large or too precise to be compared by value.
type literal string

func (t literal) matches(v jsonvalue.Value) bool {
	return v.Kind() == jsonvalue.Number && v.Text() == string(t)
}

// exactNumber returns the test for a number among the values of a field.
func exactNumber(s string) test {
	if n, problem := comparable(s); problem == "" {
		return numbers{low: n, high: n}
	}
	return literal(s)
}

// present matches a field that exists.
type present struct{}

func (present) matches(jsonvalue.Value) bool { return true }

// missing marks a field that must not exist.
type missing struct{}

func (missing) matches(jsonvalue.Value) bool { return false }

// block matches the addresses from first to last.
type block struct{ first, last netip.Addr }

func (t block) matches(v jsonvalue.Value) bool {
	if v.Kind() != jsonvalue.String {
		return false
	}
	a, ok := address(v.Text())
	return ok && a.BitLen() == t.first.BitLen() && t.first.Compare(a) <= 0 && a.Compare(t.last) <= 0
}
