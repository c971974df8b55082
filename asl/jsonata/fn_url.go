package jsonata

import (
	"strings"
	"unicode/utf8"
)

var urlFunctions = map[string]*native{
	"encodeUrlComponent": define("<s-:s>", 1, urlFunction("encodeUrlComponent",
		func(s string) (string, bool) { return escapeURL(s, "") })),
	"encodeUrl": define("<s-:s>", 1,
		urlFunction("encodeUrl", func(s string) (string, bool) { return escapeURL(s, reserved) })),
	"decodeUrlComponent": define("<s-:s>", 1, urlFunction("decodeUrlComponent",
		func(s string) (string, bool) { return unescapeURL(s, "") })),
	"decodeUrl": define("<s-:s>", 1,
		urlFunction("decodeUrl", func(s string) (string, bool) { return unescapeURL(s, reserved) })),
}

const (
	// reserved holds the characters that have a meaning in a whole URL.
	reserved = ";/?:@&=+$,#"
	marks    = "-_.!~*'()"
)

func urlFunction(name string, f func(s string) (string, bool)) func(c *call, args []value) (value, *Error) {
	return whenDefined(func(c *call, v value) (value, *Error) {
		s := textOf(v)
		if err := c.ev.budget.spendText(len(s)); err != nil {
			return nil, err
		}
		result, ok := f(s)
		if !ok {
			return nil, &Error{Code: "D3140", value: v, function: name}
		}
		return result, nil
	})
}

// escapeURL escapes all characters except letters, digits, marks and the characters in keep. It returns false if
// the text has a lone surrogate, which cannot be escaped.
func escapeURL(s, keep string) (string, bool) {
	const upperHex = "0123456789ABCDEF"
	if !utf8.ValidString(s) {
		return "", false
	}
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9',
			strings.IndexByte(marks, c) >= 0, strings.IndexByte(keep, c) >= 0:
			out = append(out, c)
		default:
			out = append(out, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return string(out), true
}

// unescapeURL decodes escapes. It leaves escapes of the characters in keep as they are.
func unescapeURL(s, keep string) (string, bool) {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] != '%' {
			out = append(out, s[i])
			i++
			continue
		}
		start := i
		var char []byte
		for n := 1; len(char) < n; i += 3 {
			b, ok := escapedByte(s[i:])
			if !ok {
				return "", false
			}
			if len(char) == 0 {
				n = sequenceLength(b)
			}
			char = append(char, b)
		}
		switch {
		case !utf8.Valid(char):
			return "", false
		case len(char) == 1 && strings.IndexByte(keep, char[0]) >= 0:
			out = append(out, s[start:i]...)
		default:
			out = append(out, char...)
		}
	}
	return string(out), true
}

func escapedByte(s string) (byte, bool) {
	if len(s) < 3 || s[0] != '%' {
		return 0, false
	}
	high, low := strings.IndexByte(hexDigits, s[1]|0x20), strings.IndexByte(hexDigits, s[2]|0x20)
	return byte(high<<4 | low), high >= 0 && low >= 0
}

// sequenceLength returns the length in bytes of the UTF-8 sequence that starts with b.
func sequenceLength(b byte) int {
	switch {
	case b >= 0xF0:
		return 4
	case b >= 0xE0:
		return 3
	case b >= 0xC0:
		return 2
	default:
		return 1
	}
}
