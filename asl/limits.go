package asl

import (
	"strconv"

	"stepback/jsonvalue"
)

// maxSeconds is the upper bound of nearly every duration in the language.
const maxSeconds = 99_999_999

// limits are the inclusive bounds of a number. A max of 0 means no upper bound.
type limits struct {
	min, max int64
	// decimal is true if the number may have a fraction. Messages then show the bounds with a fraction.
	decimal bool
}

var (
	positiveSeconds = limits{min: 1, max: maxSeconds}
	waitSeconds     = limits{min: 0, max: maxSeconds}
	count           = limits{min: 0}
	percentage      = limits{min: 0, max: 100, decimal: true}
)

// check reports the number at the current path if it has the wrong type or is out of bounds.
func (l limits) check(d *decoder, v jsonvalue.Value) {
	_, whole := v.Int()
	switch {
	case v.Kind() == jsonvalue.Number && (whole || l.decimal):
	case v.Kind() != jsonvalue.Number:
		d.expect(l.kind(), v)
		return
	default:
		d.fail("Expected value of type Integer").hint(l.accepted())
		return
	}
	switch {
	case jsonvalue.CompareNumbers(v, jsonvalue.OfInt(l.min)) < 0:
		d.fail("Minimum value is %s", l.bound(l.min)).hint(l.accepted())
	case l.max != 0 && jsonvalue.CompareNumbers(v, jsonvalue.OfInt(l.max)) > 0:
		d.fail("Maximum value is %s", l.bound(l.max)).hint(l.accepted())
	}
}

func (l limits) kind() string {
	if l.decimal {
		return "Number"
	}
	return "Integer"
}

func (l limits) bound(n int64) string {
	if l.decimal {
		return strconv.FormatInt(n, 10) + ".0"
	}
	return strconv.FormatInt(n, 10)
}

func (l limits) accepted() string {
	what := "a whole number"
	if l.decimal {
		what = "a number"
	}
	if l.max == 0 {
		return what + " from " + l.bound(l.min)
	}
	return what + " from " + l.bound(l.min) + " to " + l.bound(l.max)
}
