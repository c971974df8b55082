package eventpattern

import (
	"net/netip"

	"stepback/jsonvalue"
)

// plainText is a text that has to be equal.
type plainText string

func (t plainText) matches(v jsonvalue.Value) bool {
	return v.Kind() == jsonvalue.String && v.Text() == string(t)
}

// exactText is the test for a text among the values of a field. Texts that are addresses match whatever way they are
// written.
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

// literal is a number that is compared by its text, since it is too large or too precise to be compared by value.
type literal string

func (t literal) matches(v jsonvalue.Value) bool {
	return v.Kind() == jsonvalue.Number && v.Text() == string(t)
}

// exactNumber is the test for a number among the values of a field.
func exactNumber(s string) test {
	if n, problem := comparable(s); problem == "" {
		return numbers{low: n, high: n}
	}
	return literal(s)
}

// present is the test of a field that has to be there.
type present struct{}

func (present) matches(jsonvalue.Value) bool { return true }

// missing stands for a field that must not be there.
type missing struct{}

func (missing) matches(jsonvalue.Value) bool { return false }

// block are the addresses from the first to the last one.
type block struct{ first, last netip.Addr }

func (t block) matches(v jsonvalue.Value) bool {
	if v.Kind() != jsonvalue.String {
		return false
	}
	a, ok := address(v.Text())
	return ok && a.BitLen() == t.first.BitLen() && t.first.Compare(a) <= 0 && a.Compare(t.last) <= 0
}
