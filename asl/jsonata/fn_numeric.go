package jsonata

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

var numericFunctions = map[string]*native{
	"number": define("<(nsb)-:n>", 1, whenDefined(toNumber)),
	"abs":    define("<n-:n>", 1, ofNumber(math.Abs)),
	"floor":  define("<n-:n>", 1, ofNumber(math.Floor)),
	"ceil":   define("<n-:n>", 1, ofNumber(math.Ceil)),
	"round": define("<n-n?:n>", 2, func(_ *call, args []value) (value, *Error) {
		if argument(args, 0) == nil {
			return nil, nil
		}
		return round(numberOf(args[0]), numberOf(argument(args, 1))), nil
	}),
	"sqrt": define("<n-:n>", 1, whenDefined(func(_ *call, v value) (value, *Error) {
		f := numberOf(v)
		if f < 0 {
			return nil, &Error{Code: "D3060", value: v, index: 1}
		}
		return math.Sqrt(f), nil
	})),
	"power":      define("<n-n:n>", 2, power),
	"formatBase": define("<n-n?:s>", 2, formatBase),
	"random": define("<:n>", 0, func(c *call, _ []value) (value, *Error) {
		return fraction(c.ev.env.Random()),
			nil
	}),
}

func ofNumber(f func(float64) float64) func(c *call, args []value) (value, *Error) {
	return whenDefined(func(_ *call, v value) (value, *Error) { return f(numberOf(v)), nil })
}

// fraction converts random bits to a number in [0, 1).
func fraction(bits uint64) float64 { return float64(bits>>11) / (1 << 53) }

func power(_ *call, args []value) (value, *Error) {
	if argument(args, 0) == nil {
		return nil, nil
	}
	exponent, ok := argument(args, 1).(float64)
	if !ok {
		exponent = math.NaN()
	}
	base := numberOf(args[0])
	result := math.Pow(base, exponent)
	if math.Abs(base) == 1 && (math.IsNaN(exponent) || math.IsInf(exponent, 0)) {
		result = math.NaN() // unlike in Go
	}
	if math.IsNaN(result) || math.IsInf(result, 0) {
		return nil, &Error{Code: "D3061", value: args[0], exponent: argument(args, 1), index: 1}
	}
	return result, nil
}

// round rounds to a number of decimal places, halves to the even neighbour.
func round(f, precision float64) float64 {
	if precision != 0 {
		f = shift(f, precision)
	}
	result := math.Floor(f)
	if f-result >= 0.5 {
		result++
	}
	if math.Abs(result-f) == 0.5 && math.Abs(math.Mod(result, 2)) == 1 {
		result--
	}
	if precision != 0 {
		result = shift(result, -precision)
	}
	if result == 0 {
		return 0
	}
	return result
}

// shift moves the decimal point in the number's text, so that no binary rounding interferes.
func shift(f, places float64) float64 {
	digits, exponent, found := strings.Cut(formatNumber(f), "e")
	if found {
		e, err := strconv.ParseFloat(exponent, 64)
		if err != nil {
			return math.NaN()
		}
		places += e
	}
	if places != math.Trunc(places) {
		return math.NaN()
	}
	shifted, err := strconv.ParseFloat(digits+"e"+strconv.FormatFloat(places, 'f', 0, 64), 64)
	if err != nil && !math.IsInf(shifted, 0) {
		return math.NaN()
	}
	return shifted
}

func formatBase(_ *call, args []value) (value, *Error) {
	if argument(args, 0) == nil {
		return nil, nil
	}
	radix := 10.0
	if v, ok := argument(args, 1).(float64); ok {
		radix = round(v, 0)
	}
	if radix < 2 || radix > 36 {
		return nil, raise("D3100", radix)
	}
	f := round(numberOf(args[0]), 0)
	switch {
	case radix == 10 || math.IsNaN(f) || math.IsInf(f, 0):
		return formatNumber(f), nil
	case math.Abs(f) < 1<<53:
		return strconv.FormatInt(int64(f), int(radix)), nil
	default:
		whole, _ := big.NewFloat(f).Int(nil)
		return whole.Text(int(radix)), nil
	}
}

func toNumber(_ *call, v value) (value, *Error) {
	switch v := v.(type) {
	case float64:
		return v, nil
	case bool:
		if v {
			return 1.0, nil
		}
		return 0.0, nil
	case string:
		if isDecimal(v) {
			if f, err := strconv.ParseFloat(v, 64); err == nil {
				return f, nil
			}
		} else if f, ok := prefixedNumber(v); ok {
			return f, nil
		}
	}
	return nil, &Error{Code: "D3030", value: v, index: 1}
}

// isDecimal reports whether a text is a number with optional sign, fraction and exponent.
func isDecimal(s string) bool {
	l := lexer{source: s}
	at := 0
	if strings.HasPrefix(s, "-") {
		at = 1
	}
	end := l.digits(at)
	if end == at {
		return false
	}
	if end < len(s) && s[end] == '.' {
		at = end + 1
		if end = l.digits(at); end == at {
			return false
		}
	}
	if end < len(s) && (s[end] == 'e' || s[end] == 'E') {
		at = end + 1
		if at < len(s) && (s[at] == '+' || s[at] == '-') {
			at++
		}
		if end = l.digits(at); end == at {
			return false
		}
	}
	return end == len(s)
}

// prefixedNumber parses 0x, 0o and 0b numbers. If a text merely contains such a number, the reference
// implementation may accept it; the result is NaN then.
func prefixedNumber(s string) (float64, bool) {
	if len(s) > 2 && s[0] == '0' {
		base := map[byte]int{'x': 16, 'X': 16, 'o': 8, 'O': 8, 'b': 2, 'B': 2}[s[1]]
		if whole, ok := new(big.Int).SetString(s[2:], base); ok && base != 0 && isAlphanumeric(s[2:]) {
			f, _ := new(big.Float).SetInt(whole).Float64()
			return f, true
		}
	}
	for i := 0; i+2 < len(s); i++ {
		if s[i] != '0' {
			continue
		}
		hex := i == 0 && (s[1] == 'x' || s[1] == 'X') && strings.IndexByte("0123456789abcdefABCDEF", s[2]) >= 0
		octal := (s[i+1] == 'o' || s[i+1] == 'O') && s[i+2] >= '0' && s[i+2] <= '7'
		binary := (s[i+1] == 'b' || s[i+1] == 'B') && strings.TrimLeft(s[i+2:], "01") == ""
		if hex || octal || binary {
			return math.NaN(), true
		}
	}
	return 0, false
}

func isAlphanumeric(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; (c < 'a' || c > 'z') && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return true
}
