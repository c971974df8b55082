package jsonvalue

import (
	"bytes"
	"sync"
	"unicode/utf8"
)

// AppendJSON appends the value's compact JSON text: no spaces, keys in order, numbers as they were written, nothing
// escaped except quotes, backslashes and control characters (as Jackson writes it).
func (v Value) AppendJSON(dst []byte) []byte {
	switch v.kind {
	case Null:
		return append(dst, "null"...)
	case Bool:
		if v.flag {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case Number:
		return append(dst, v.text...)
	case String:
		return AppendQuoted(dst, v.text)
	case Array:
		if v.node.raw != nil {
			return append(dst, v.node.raw.text...)
		}
		dst = append(dst, '[')
		for i, e := range v.node.vals {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.AppendJSON(dst)
		}
		return append(dst, ']')
	default:
		if v.node.raw != nil {
			return append(dst, v.node.raw.text...)
		}
		dst = append(dst, '{')
		for i, k := range v.node.keys {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendQuoted(dst, k)
			dst = append(dst, ':')
			dst = v.node.vals[i].AppendJSON(dst)
		}
		return append(dst, '}')
	}
}

// JSON returns the value's compact JSON text.
func (v Value) JSON() string {
	b, _ := buffers.Get().(*[]byte)
	*b = v.AppendJSON((*b)[:0])
	text := string(*b)
	if cap(*b) <= maxKept {
		buffers.Put(b)
	}
	return text
}

// JSONBytes returns the value's compact JSON text as bytes.
func (v Value) JSONBytes() []byte {
	b, _ := buffers.Get().(*[]byte)
	*b = v.AppendJSON((*b)[:0])
	text := bytes.Clone(*b)
	if cap(*b) <= maxKept {
		buffers.Put(b)
	}
	return text
}

// JSONUpTo returns the value's compact JSON text. It returns false if the text has more than limit bytes; it then
// stops soon after the limit. Values may share parts, so the text of a small tree can be immense.
func (v Value) JSONUpTo(limit int) (string, bool) {
	b, _ := buffers.Get().(*[]byte)
	*b = v.appendUpTo((*b)[:0], limit)
	ok := len(*b) <= limit
	text := ""
	if ok {
		text = string(*b)
	}
	if cap(*b) <= maxKept {
		buffers.Put(b)
	}
	return text, ok
}

// appendUpTo works like AppendJSON but stops once dst is longer than limit.
func (v Value) appendUpTo(dst []byte, limit int) []byte {
	if v.node != nil && v.node.raw != nil {
		if room := limit - len(dst); room < len(v.node.raw.text) {
			return append(dst, v.node.raw.text[:max(room+1, 0)]...)
		}
		return append(dst, v.node.raw.text...)
	}
	switch v.kind {
	case Array:
		dst = append(dst, '[')
		for i, e := range v.node.vals {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst = e.appendUpTo(dst, limit); len(dst) > limit {
				return dst
			}
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for i, k := range v.node.keys {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(AppendQuoted(dst, k), ':')
			if dst = v.node.vals[i].appendUpTo(dst, limit); len(dst) > limit {
				return dst
			}
		}
		return append(dst, '}')
	default:
		return v.AppendJSON(dst)
	}
}

// buffers holds buffers for texts whose size is not yet known. Those larger than maxKept are not kept.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const maxKept = 64 << 10

const hexDigits = "0123456789ABCDEF"

// plain marks the bytes that need no escape in a string.
var plain = func() (t [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// AppendQuoted appends s as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func AppendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plain[c] {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\uFFFD"...)
				start = i + 1
			}
			i += n
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = AppendEscape(dst, c)
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// AppendEscape appends the escape sequence of a quotation mark, a backslash or a control character.
func AppendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	default:
		return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
	}
}
