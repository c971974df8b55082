package jsonvalue

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// AppendJava appends the value as Java's toString prints maps and lists: {a=1, b=[x, 2]}, strings without quotes. The
// real service shows objects this way inside formatted text and messages.
func (v Value) AppendJava(dst []byte) []byte {
	switch v.kind {
	case String:
		return append(dst, v.text...)
	case Array:
		dst = append(dst, '[')
		for i, e := range v.inner().vals {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = e.AppendJava(dst)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for i, k := range v.inner().keys {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(append(dst, k...), '=')
			dst = v.inner().vals[i].AppendJava(dst)
		}
		return append(dst, '}')
	default:
		return v.AppendJSON(dst)
	}
}

// OfFloat returns a number written as Java writes a double: 15.0, 1.0E10, 2.5E-4. NaN and the infinities, which JSON
// cannot hold, become null.
func OfFloat(f float64) Value {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Value{}
	}
	abs := math.Abs(f)
	if f == 0 || abs >= 1e-3 && abs < 1e7 {
		return OfNumberText(withFraction(strconv.FormatFloat(f, 'f', -1, 64)))
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'E', -1, 64), "E")
	negative := strings.HasPrefix(exponent, "-")
	exponent = strings.TrimLeft(exponent, "+-0")
	if negative {
		exponent = "-" + exponent
	}
	return OfNumberText(withFraction(mantissa) + "E" + exponent)
}

func withFraction(digits string) string {
	if strings.Contains(digits, ".") {
		return digits
	}
	return digits + ".0"
}

// CompareUTF16 orders two strings by their UTF-16 code units, as Java's compareTo does: -1, 0 or 1. It differs from
// Go's order only where one string has a character above U+FFFF and the other one from U+E000 to U+FFFF.
func CompareUTF16(a, b string) int {
	n := commonPrefix(a, b)
	if n == len(a) || n == len(b) {
		return sign(len(a) < len(b), len(a) > len(b))
	}
	x, _ := utf8.DecodeRuneInString(a[n:])
	y, _ := utf8.DecodeRuneInString(b[n:])
	return sign(utf16Rank(x) < utf16Rank(y), utf16Rank(x) > utf16Rank(y))
}

// commonPrefix returns the length in bytes of the longest common prefix that ends between characters.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && (n < len(a) && !utf8.RuneStart(a[n]) || n < len(b) && !utf8.RuneStart(b[n])) {
		n--
	}
	return n
}

// utf16Rank maps the characters above U+FFFF, whose code units are surrogates (U+D800 to U+DFFF), to values below
// U+E000.
func utf16Rank(r rune) rune {
	switch {
	case r > 0xFFFF:
		return r - 0x10000 + 0xD800
	case r >= 0xE000:
		return r + 0x110000
	default:
		return r
	}
}

// LenUTF16 returns the length of a string in UTF-16 code units, as Java counts it.
func LenUTF16(s string) int {
	n := 0
	for _, r := range s {
		if r > 0xFFFF {
			n++
		}
		n++
	}
	return n
}
