package eventpattern

import (
	"strings"

	"stepback/jsonvalue"
)

const tooMany = "Too many elements in numeric expression"

// numbers matches the numbers in a range, in millionths.
type numbers struct {
	low, high         int64
	openLow, openHigh bool // low or high is excluded
}

func (t numbers) matches(v jsonvalue.Value) bool {
	if v.Kind() != jsonvalue.Number {
		return false
	}
	n, problem := comparable(v.Text())
	return problem == "" && (n > t.low || n == t.low && !t.openLow) && (n < t.high || n == t.high && !t.openHigh)
}

// The limits of numbers that are compared by value: 5e9, in millionths.
const (
	decimals   = 6
	largest    = 5_000_000_000_000_000
	outOfRange = "Value must be between -5.0E9 and 5.0E9, inclusive"
	tooPrecise = "Only values upto 6 decimals are supported"
)

// comparable returns the exact number of a JSON text in millionths. problem is not empty if that is not possible.
func comparable(text string) (n int64, problem string) {
	text, negative := strings.CutPrefix(text, "-")
	mantissa, exponent := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], smallNumber(text[i+1:])
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	exponent += decimals - len(fraction)
	if trimmed := strings.TrimRight(digits, "0"); trimmed == "" {
		return 0, ""
	} else if exponent < 0 {
		exponent += len(digits) - len(trimmed)
		digits = trimmed
	}
	switch {
	case exponent < 0:
		return 0, tooPrecise
	case len(digits)+exponent > len("5000000000000000"):
		return 0, outOfRange
	}
	for _, c := range []byte(digits) {
		n = 10*n + int64(c-'0')
	}
	for range exponent {
		n *= 10
	}
	if n > largest {
		return 0, outOfRange
	}
	if negative {
		n = -n
	}
	return n, ""
}

// smallNumber parses an exponent. Exponents far outside the comparable range are all treated alike.
func smallNumber(text string) int {
	const far = 1 << 20
	sign := 1
	switch text[0] {
	case '-':
		sign, text = -1, text[1:]
	case '+':
		text = text[1:]
	}
	n := 0
	for _, c := range []byte(text) {
		n = min(far, 10*n+int(c-'0'))
	}
	return sign * n
}

// bounds maps the operators of the first comparison to their names in errors.
var bounds = map[string]string{"=": "equals", "<": "<", "<=": "<=", ">": ">", ">=": ">="}

// numeric parses the value of numeric: one comparison, or a lower and an upper bound.
func (c *compiler) numeric() (test, error) {
	if c.next() != startArray {
		return nil, c.fail("Value of numeric must be an array.")
	}
	if c.next() != textToken {
		return nil, c.fail("Invalid member in numeric match: %s", c.text())
	}
	operator := c.text()
	c.next()
	t := numbers{low: -largest, high: largest}
	name, known := bounds[operator]
	switch {
	case !known:
		return nil, c.fail("Unrecognized numeric range operator: %s", operator)
	case c.token != numberToken:
		return nil, c.fail("Value of %s must be numeric", name)
	}
	n, problem := comparable(c.text())
	switch operator[0] {
	case '=':
		t.low, t.high = n, n
	case '<':
		t.high, t.openHigh = n, operator == "<"
	default:
		t.low, t.openLow = n, operator == ">"
	}
	if c.next() != endArray {
		if operator[0] != '>' {
			return nil, c.fail(tooMany)
		}
		if err := c.upperBound(&t); err != nil {
			return nil, err
		}
	}
	if problem != "" {
		return nil, c.fail("%s", problem)
	}
	if c.next() != endObject {
		return nil, c.fail(tooMany)
	}
	return t, nil
}

// upperBound parses the second half of a range.
func (c *compiler) upperBound(t *numbers) error {
	if c.token != textToken {
		return c.fail("Bad value in numeric range: %s", c.text())
	}
	operator := c.text()
	if operator != "<" && operator != "<=" {
		return c.fail("Bad numeric range operator: %s", operator)
	}
	if c.next() != numberToken {
		return c.fail("Value of %s must be numeric", operator)
	}
	n, problem := comparable(c.text())
	if c.next() != endArray {
		return c.fail("Too many terms in numeric range expression")
	}
	if problem == "" && t.low >= n {
		problem = "Bottom must be less than top"
	}
	if problem != "" {
		return c.fail("%s", problem)
	}
	t.high, t.openHigh = n, operator == "<"
	return nil
}
