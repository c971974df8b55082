package plan

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// compareUTF16 compares strings as Java does, by UTF-16 code units. That differs from code point order for characters
// outside the basic plane.
func compareUTF16(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == len(a) || i == len(b) {
		return len(a) - len(b)
	}
	for i > 0 && !utf8.RuneStart(a[i]) {
		i--
	}
	ra, _ := utf8.DecodeRuneInString(a[i:])
	rb, _ := utf8.DecodeRuneInString(b[i:])
	return codeUnit(ra) - codeUnit(rb)
}

// codeUnit maps a rune to a number that orders runes by their UTF-16 form.
func codeUnit(r rune) int {
	if r < 0x10000 {
		return int(r) << 11
	}
	hi, lo := utf16.EncodeRune(r)
	return int(hi)<<11 | int(lo-0xDC00) + 1
}

// wildcard is a StringMatches pattern: literal pieces between stars.
type wildcard struct{ pieces []string }

// compileWildcard parses a pattern in which * matches any characters, \* a star and \\ a backslash.
func compileWildcard(pattern string) wildcard {
	var w wildcard
	var piece strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern) && (pattern[i+1] == '*' || pattern[i+1] == '\\'):
			i++
			piece.WriteByte(pattern[i])
		case c == '*':
			w.pieces = append(w.pieces, piece.String())
			piece.Reset()
		default:
			piece.WriteByte(c)
		}
	}
	w.pieces = append(w.pieces, piece.String())
	return w
}

func (w wildcard) matches(s string) bool {
	first, last := w.pieces[0], w.pieces[len(w.pieces)-1]
	if len(w.pieces) == 1 {
		return s == first
	}
	if len(s) < len(first)+len(last) || !strings.HasPrefix(s, first) || !strings.HasSuffix(s, last) {
		return false
	}
	s = s[len(first) : len(s)-len(last)]
	for _, piece := range w.pieces[1 : len(w.pieces)-1] {
		i := strings.Index(s, piece)
		if i < 0 {
			return false
		}
		s = s[i+len(piece):]
	}
	return true
}
