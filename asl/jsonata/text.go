package jsonata

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Strings are UTF-8. A lone surrogate, which JavaScript's strings may contain, is kept as the three bytes that UTF-8
// would use for it (WTF-8), and becomes U+FFFD when it leaves the evaluator.

const (
	surrogateMin = 0xD800
	lowMin       = 0xDC00
	surrogateMax = 0xDFFF
)

func isSurrogate(r rune) bool { return r >= surrogateMin && r <= surrogateMax }

// decodeUnit returns the first character of a text and its length in bytes. A lone surrogate is returned as itself.
func decodeUnit(s string) (rune, int) {
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 && len(s) >= 3 && s[0] == 0xED && s[1] >= 0xA0 && s[1] <= 0xBF &&
		s[2]&0xC0 == 0x80 {
		return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), 3
	}
	return r, n
}

// appendUnit appends a character; a low surrogate is combined with a high surrogate at the end of the text.
func appendUnit(dst []byte, r rune) []byte {
	if !isSurrogate(r) {
		return utf8.AppendRune(dst, r)
	}
	if r >= lowMin && len(dst) >= 3 {
		if high, n := decodeUnit(string(dst[len(dst)-3:])); n == 3 && isSurrogate(high) && high < lowMin {
			return utf8.AppendRune(dst[:len(dst)-3], utf16.DecodeRune(high, r))
		}
	}
	return append(dst, 0xED, 0x80|byte(r>>6&0x3F), 0x80|byte(r&0x3F))
}

// units returns the UTF-16 code units of a text.
func units(s string) []uint16 {
	out := make([]uint16, 0, len(s))
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			out = append(out, uint16(c))
			i++
			continue
		}
		r, n := decodeUnit(s[i:])
		if r > 0xFFFF {
			high, low := utf16.EncodeRune(r)
			out = append(out, uint16(high), uint16(low))
		} else {
			out = append(out, uint16(r))
		}
		i += n
	}
	return out
}

// fromUnits returns the text of UTF-16 code units; it is the inverse of units.
func fromUnits(in []uint16) string {
	out := make([]byte, 0, len(in))
	for _, u := range in {
		if u < utf8.RuneSelf {
			out = append(out, byte(u))
		} else {
			out = appendUnit(out, rune(u))
		}
	}
	return string(out)
}

// skipCharacters returns a text without its first n characters (code points).
func skipCharacters(s string, n int) string {
	for ; n > 0 && len(s) > 0; n-- {
		_, size := decodeUnit(s)
		s = s[size:]
	}
	return s
}

// countCharacters returns the number of code points of a text.
func countCharacters(s string) int {
	n := 0
	for len(s) > 0 {
		_, size := decodeUnit(s)
		s = s[size:]
		n++
	}
	return n
}

// concat joins two texts. If the halves of a surrogate pair meet at the joint, they become one character.
func concat(a, b string) string {
	if startsLow(b) && len(a) >= 3 && a[len(a)-3] == 0xED {
		return string(appendText([]byte(a), b))
	}
	return a + b
}

// appendText appends a text to another as concat joins them.
func appendText(dst []byte, s string) []byte {
	if startsLow(s) {
		low, _ := decodeUnit(s)
		return append(appendUnit(dst, low), s[3:]...)
	}
	return append(dst, s...)
}

// startsLow reports whether a text begins with a lone surrogate.
func startsLow(s string) bool {
	if len(s) < 3 || s[0] != 0xED {
		return false
	}
	first, _ := decodeUnit(s)
	return isSurrogate(first)
}

// wellFormed replaces lone surrogates by U+FFFD.
func wellFormed(s string) string {
	if !strings.Contains(s, "\xED") || utf8.ValidString(s) {
		return s
	}
	out := make([]byte, 0, len(s))
	for len(s) > 0 {
		r, n := decodeUnit(s)
		out = utf8.AppendRune(out, r)
		s = s[n:]
	}
	return string(out)
}
