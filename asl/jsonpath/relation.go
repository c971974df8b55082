package jsonpath

import (
	"strings"

	"stepback/jsonvalue"
)

// relation evaluates a comparison. errRejected means that it does not apply to these operands.
type relation func(left, right operand) (bool, error)

// relations maps the operators of filters to their relations. In a path, operator names may be in upper or lower
// case.
var relations = map[string]relation{
	"==":       equal,
	"!=":       negate(equal),
	"===":      sameKindAndEqual,
	"!==":      negate(sameKindAndEqual),
	"<":        ordered(func(c int) bool { return c < 0 }),
	"<=":       ordered(func(c int) bool { return c <= 0 }),
	">":        ordered(func(c int) bool { return c > 0 }),
	">=":       ordered(func(c int) bool { return c >= 0 }),
	"=~":       matches,
	"IN":       in,
	"NIN":      negate(in),
	"SUBSETOF": subsetOf,
	"ANYOF":    anyCommon,
	"NONEOF":   negate(anyCommon),
	"ALL":      all,
	"CONTAINS": contains,
	"SIZE":     size,
	"EMPTY":    empty,
}

// pairwise lists the relations that compare the elements of both sides with each other.
var pairwise = map[string]bool{"SUBSETOF": true, "ANYOF": true, "NONEOF": true, "ALL": true}

func negate(r relation) relation {
	return func(left, right operand) (bool, error) {
		ok, err := r(left, right)
		return !ok && err == nil, err
	}
}

// equal compares values. A string and a number are equal if the string contains exactly that number.
func equal(left, right operand) (bool, error) {
	if left.undefined || right.undefined || left.pattern != nil || right.pattern != nil {
		return false, nil
	}
	return equalValues(left.value, right.value), nil
}

func equalValues(a, b jsonvalue.Value) bool {
	switch {
	case a.Kind() == jsonvalue.String && b.Kind() == jsonvalue.Number:
		return a.Text() == b.Text()
	case a.Kind() == jsonvalue.Number && b.Kind() == jsonvalue.String:
		n, ok := spelledNumber(b.Text())
		return ok && jsonvalue.CompareNumbers(a, n) == 0
	default:
		return jsonvalue.Equal(a, b)
	}
}

// spelledNumber parses a string that contains exactly one number.
func spelledNumber(s string) (jsonvalue.Value, bool) {
	if strings.Trim(s, "0123456789+-.eE") != "" {
		return jsonvalue.Value{}, false
	}
	v, err := jsonvalue.Parse(strings.TrimPrefix(s, "+"))
	return v, err == nil
}

func sameKindAndEqual(left, right operand) (bool, error) {
	if left.isTree() && right.isTree() || left.value.Kind() == right.value.Kind() {
		return equal(left, right)
	}
	return false, nil
}

// ordered returns a relation that compares two numbers by value, and strings by their UTF-16 units. A number
// compares with a string by its text. Other values are not ordered.
func ordered(accepts func(c int) bool) relation {
	return func(left, right operand) (bool, error) {
		if left.is(jsonvalue.Number) && right.is(jsonvalue.Number) {
			return accepts(jsonvalue.CompareNumbers(left.value, right.value)), nil
		}
		if !isScalarText(left) || !isScalarText(right) {
			return false, nil
		}
		return accepts(jsonvalue.CompareUTF16(left.value.Text(), right.value.Text())), nil
	}
}

func isScalarText(o operand) bool { return o.is(jsonvalue.String) || o.is(jsonvalue.Number) }

// matches reports whether a regular expression matches the whole of a string, a boolean, or a number's text. For an
// array, one matching element is enough.
func matches(left, right operand) (bool, error) {
	if left.pattern != nil {
		left, right = right, left
	}
	if right.pattern == nil || left.pattern != nil {
		return false, nil
	}
	if left.is(jsonvalue.Array) {
		for _, element := range left.value.Elements() {
			if right.pattern.MatchString(matchText(operand{value: element})) {
				return true, nil
			}
		}
		return false, nil
	}
	return right.pattern.MatchString(matchText(left)), nil
}

func matchText(o operand) string {
	if isScalarText(o) || o.is(jsonvalue.Bool) {
		return string(o.value.AppendJava(nil))
	}
	return ""
}

// size compares the length of a string or an array with a number.
func size(left, right operand) (bool, error) {
	if !right.is(jsonvalue.Number) {
		return false, nil
	}
	want := int(right.value.Float())
	switch {
	case left.is(jsonvalue.String):
		return jsonvalue.LenUTF16(left.value.Text()) == want, nil
	case left.is(jsonvalue.Array):
		return left.value.Len() == want, nil
	default:
		return left.is(jsonvalue.Object) && want == -1, nil
	}
}

// empty reports whether the emptiness of a string, an array or an object equals a boolean.
func empty(left, right operand) (bool, error) {
	var isEmpty bool
	switch {
	case left.is(jsonvalue.String):
		isEmpty = left.value.Text() == ""
	case left.isTree():
		isEmpty = left.value.Len() == 0
	default:
		return false, nil
	}
	if !right.is(jsonvalue.Bool) {
		return false, errRejected
	}
	return isEmpty == right.value.Bool(), nil
}
