package item

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
)

// MaxDigits is the maximum number of significant digits.
const MaxDigits = 38

// The range of the decimal exponent of a number's first digit: 1E-130 to 9.99…E+125.
const (
	minExponent = -130
	maxExponent = 125
)

const (
	errOverflow  = Invalid("Number overflow. Attempting to store a number with magnitude larger than supported range")
	errUnderflow = Invalid("Number underflow. Attempting to store a number with magnitude smaller than supported range")
	errDigits    = Invalid("Attempting to store more than 38 significant digits in a Number")
	errNumeric   = Invalid("The parameter cannot be converted to a numeric value")
)

// decimal is a parsed number: 0.DIGITS × 10^exponent. The digits neither start nor end with 0; zero has none.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// Number returns the value of a number. Equal numbers have the same text: 1.0, 1e0 and 01 are "1".
func Number(text string) (Value, error) {
	d, err := parseDecimal(text)
	if err != nil {
		return Value{}, err
	}
	return Value{Kind: KindNumber, Text: d.String()}, nil
}

// parseDecimal parses a number as Java's BigDecimal does, with an optional sign, fraction and exponent.
func parseDecimal(text string) (decimal, error) {
	var d decimal
	rest := text
	if rest == "" {
		return d, errNumeric
	}
	if rest[0] == '-' || rest[0] == '+' {
		d.negative = rest[0] == '-'
		rest = rest[1:]
	}
	mantissa, power, hasPower := strings.Cut(strings.ReplaceAll(rest, "E", "e"), "e")
	if hasPower {
		const most = 6
		n, err := strconv.Atoi(power)
		if err != nil || len(strings.TrimLeft(power, "+-0")) > most {
			if allDigits(strings.TrimLeft(power, "+-")) && power != "" && allDigits(strings.Replace(mantissa, ".", "", 1)) {
				return d, outOfRange(mantissa, strings.HasPrefix(power, "-"))
			}
			return d, errNumeric + Invalid(": "+text)
		}
		d.exponent = n
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole == "" && fraction == "" || !allDigits(whole) || !allDigits(fraction) {
		return d, errNumeric + Invalid(": "+text)
	}
	d.exponent += len(whole)
	d.digits = whole + fraction
	return d.normal()
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// outOfRange returns the error for a number whose exponent does not fit an int.
func outOfRange(mantissa string, small bool) error {
	if small || strings.Trim(mantissa, "0.") == "" {
		return errUnderflow
	}
	return errOverflow
}

// normal strips zeros from both ends of the digits, and rejects numbers out of range.
func (d decimal) normal() (decimal, error) {
	trimmed := strings.TrimLeft(d.digits, "0")
	d.exponent -= len(d.digits) - len(trimmed)
	d.digits = strings.TrimRight(trimmed, "0")
	switch first := d.exponent - 1; {
	case d.digits == "":
		return decimal{}, nil
	case first > maxExponent:
		return d, errOverflow
	case first < minExponent:
		return d, errUnderflow
	case len(d.digits) > MaxDigits:
		return d, errDigits
	}
	return d, nil
}

// String formats the number without an exponent, as DynamoDB does in responses.
func (d decimal) String() string {
	if d.digits == "" {
		return "0"
	}
	var b strings.Builder
	if d.negative {
		b.WriteByte('-')
	}
	switch n := len(d.digits); {
	case d.exponent <= 0:
		b.WriteString("0.")
		b.WriteString(strings.Repeat("0", -d.exponent))
		b.WriteString(d.digits)
	case d.exponent >= n:
		b.WriteString(d.digits)
		b.WriteString(strings.Repeat("0", d.exponent-n))
	default:
		b.WriteString(d.digits[:d.exponent])
		b.WriteByte('.')
		b.WriteString(d.digits[d.exponent:])
	}
	return b.String()
}

// decimalOf parses the text of a number value, which must be valid.
func decimalOf(text string) decimal {
	d, err := parseDecimal(text)
	if err != nil {
		panic("item: " + text + " is the text of no number: " + err.Error())
	}
	return d
}

// compareNumbers compares two numbers by their texts: -1, 0 or 1.
func compareNumbers(x, y string) int {
	if x == y {
		return 0
	}
	a, b := decimalOf(x), decimalOf(y)
	if a.sign() != b.sign() {
		return compareInts(a.sign(), b.sign())
	}
	order := compareInts(a.exponent, b.exponent)
	if order == 0 {
		order = strings.Compare(a.digits, b.digits)
	}
	return order * a.sign()
}

func compareInts(a, b int) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

// Add returns a + b, or a − b if subtract is true. It returns an error if the result has too many digits or is out
// of range.
func Add(a, b Value, subtract bool) (Value, error) {
	x, y := decimalOf(a.Text), decimalOf(b.Text)
	if subtract {
		y.negative = !y.negative
	}
	// the power of ten of the last digit of either number
	low := min(x.exponent-len(x.digits), y.exponent-len(y.digits))
	sum := new(big.Int).Add(x.scaled(low), y.scaled(low))
	d := decimal{negative: sum.Sign() < 0, digits: new(big.Int).Abs(sum).String()}
	d.exponent = len(d.digits) + low
	d, err := d.normal()
	if errors.Is(err, errDigits) { // as DynamoDB reports it
		err = errOverflow
	}
	if err != nil {
		return Value{}, err
	}
	return Value{Kind: KindNumber, Text: d.String()}, nil
}

// scaled returns the number divided by 10^low, which must be an integer.
func (d decimal) scaled(low int) *big.Int {
	n := new(big.Int)
	if d.digits == "" {
		return n
	}
	n.SetString(d.digits+strings.Repeat("0", d.exponent-len(d.digits)-low), 10)
	if d.negative {
		n.Neg(n)
	}
	return n
}
