package jsonpath

import (
	"strings"

	"stepback/jsonvalue"
)

// in reports whether the left operand is among the elements of the right one. If the right operand is an object,
// the result is false. If it is neither an array nor an object, the item is rejected.
func in(left, right operand) (bool, error) {
	list, ok, err := elements(right)
	if !ok {
		return false, err
	}
	return includes(list, left), nil
}

// elements returns the elements of an array. An object has no elements. For any other operand the comparison does
// not apply.
func elements(o operand) (list []jsonvalue.Value, ok bool, err error) {
	switch {
	case o.is(jsonvalue.Array):
		return o.value.Elements(), true, nil
	case o.is(jsonvalue.Object):
		return nil, false, nil
	default:
		return nil, false, errRejected
	}
}

func includes(list []jsonvalue.Value, o operand) bool {
	if o.undefined || o.pattern != nil {
		return false
	}
	for _, element := range list {
		if equalValues(o.value, element) {
			return true
		}
	}
	return false
}

// bothElements returns the elements of both operands of a set comparison.
func bothElements(left, right operand) (l, r []jsonvalue.Value, ok bool, err error) {
	if r, ok, err = elements(right); !ok {
		return nil, nil, false, err
	}
	l, ok, err = elements(left)
	return l, r, ok, err
}

func subsetOf(left, right operand) (bool, error) {
	l, r, ok, err := bothElements(left, right)
	if !ok {
		return false, err
	}
	return includesAll(r, l), nil
}

func includesAll(list, wanted []jsonvalue.Value) bool {
	for _, w := range wanted {
		if !includes(list, operand{value: w}) {
			return false
		}
	}
	return true
}

func anyCommon(left, right operand) (bool, error) {
	l, r, ok, err := bothElements(left, right)
	if !ok {
		return false, err
	}
	for _, element := range l {
		if includes(r, operand{value: element}) {
			return true, nil
		}
	}
	return false, nil
}

// all reports whether the left array contains every element of the right one.
func all(left, right operand) (bool, error) {
	wanted, ok, err := elements(right)
	if !ok {
		return false, err
	}
	if !left.is(jsonvalue.Array) {
		return left.is(jsonvalue.Object), nil
	}
	return includesAll(left.value.Elements(), wanted), nil
}

// contains reports whether a string contains a substring, or an array an element.
func contains(left, right operand) (bool, error) {
	switch {
	case left.is(jsonvalue.String) && right.is(jsonvalue.String):
		return strings.Contains(left.value.Text(), right.value.Text()), nil
	case left.is(jsonvalue.Array):
		return includes(left.value.Elements(), right), nil
	default:
		return false, nil
	}
}
