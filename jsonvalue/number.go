package jsonvalue

import (
	"math/big"
	"strconv"
	"strings"
)

// Float returns a number as a float64 (±Inf if it is out of range); 0 for other kinds.
func (v Value) Float() float64 {
	f, err := strconv.ParseFloat(v.text, 64)
	if v.kind != Number || err != nil && f == 0 {
		return 0
	}
	return f
}

// Int returns the value of a whole number within 64 bits, however it is written (2, 2.0, 2e3). It returns false for
// all other values.
func (v Value) Int() (int64, bool) {
	if v.kind != Number {
		return 0, false
	}
	if i, err := strconv.ParseInt(v.text, 10, 64); err == nil {
		return i, true
	}
	r, ok := exact(v.text)
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return 0, false
	}
	return r.Num().Int64(), true
}

// IsIntegerText reports whether a number is written without fraction and exponent.
func (v Value) IsIntegerText() bool {
	return v.kind == Number && !strings.ContainsAny(v.text, ".eE")
}

// maxExactExponent is the largest exponent for which numbers are compared as exact fractions; beyond it they are
// compared as float64.
const maxExactExponent = 400

func exact(text string) (*big.Rat, bool) {
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if e, err := strconv.Atoi(text[i+1:]); err != nil || e > maxExactExponent || e < -maxExactExponent {
			return nil, false
		}
	}
	return new(big.Rat).SetString(text)
}

// CompareNumbers orders two numbers by value: -1, 0 or 1. 1 equals 1.0, and large integers are compared digit by digit.
func CompareNumbers(a, b Value) int {
	if a.text == b.text {
		return 0
	}
	if len(a.text) <= 18 && len(b.text) <= 18 {
		x, errX := strconv.ParseInt(a.text, 10, 64)
		y, errY := strconv.ParseInt(b.text, 10, 64)
		if errX == nil && errY == nil {
			return sign(x < y, x > y)
		}
	}
	if isShortDecimal(a.text) && isShortDecimal(b.text) {
		// Two different decimals of up to 15 digits convert to different float64 numbers, in the same order.
		return sign(a.Float() < b.Float(), a.Float() > b.Float())
	}
	x, okX := exact(a.text)
	y, okY := exact(b.text)
	if okX && okY {
		return x.Cmp(y)
	}
	return sign(a.Float() < b.Float(), a.Float() > b.Float())
}

func isShortDecimal(text string) bool { return len(text) <= 15 && !strings.ContainsAny(text, "eE") }

func sign(less, greater bool) int {
	switch {
	case less:
		return -1
	case greater:
		return 1
	default:
		return 0
	}
}
