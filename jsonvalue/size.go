package jsonvalue

import "unicode/utf8"

// FitsIn reports whether the value's compact JSON text (AppendJSON) has at most limit bytes. It stops counting beyond
// the limit, so it is cheap for any value.
func (v Value) FitsIn(limit int) bool { return v.remaining(limit) >= 0 }

// remaining returns limit minus the length of the value's text; some negative number if the text is too long.
func (v Value) remaining(limit int) int {
	switch v.kind {
	case Null:
		return limit - len("null")
	case Bool:
		if v.flag {
			return limit - len("true")
		}
		return limit - len("false")
	case Number:
		return limit - len(v.text)
	case String:
		return limit - quotedLength(v.text, limit)
	default:
	}
	if v.node.raw != nil {
		return limit - len(v.node.raw.text)
	}
	limit -= 2 + max(0, len(v.node.vals)-1)
	for i, e := range v.node.vals {
		if v.kind == Object {
			limit -= quotedLength(v.node.keys[i], limit) + 1
		}
		if limit < 0 {
			return limit
		}
		limit = e.remaining(limit)
	}
	return limit
}

// quotedLength returns the length of s as a JSON string, or limit+1 as soon as it exceeds limit.
func quotedLength(s string, limit int) int {
	n := len(s) + 2
	if n > limit {
		return limit + 1
	}
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				n += len("\uFFFD") - 1
			}
			i += size
			continue
		case c == '"' || c == '\\' || c == '\b' || c == '\f' || c == '\n' || c == '\r' || c == '\t':
			n++
		case c < 0x20:
			n += len(`\u0000`) - 1
		}
		i++
	}
	return n
}
