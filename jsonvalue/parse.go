package jsonvalue

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is the maximum nesting of arrays and objects, the limit of the JSON parser that AWS uses.
const MaxDepth = 1000

// Parse parses exactly one JSON value. Strings without escapes and numbers share the text's memory. The error is a
// *SyntaxError.
func Parse(text string) (Value, error) {
	p := parser{s: text}
	p.space()
	v, err := p.value(0)
	if err != nil {
		return Value{}, err
	}
	p.space()
	if p.i < len(p.s) {
		return Value{}, p.trailing()
	}
	return v, nil
}

type parser struct {
	s string
	i int
	// compact is true if AppendJSON wrote the text, so that large parts of it can stay text.
	compact bool
}

// trailing returns the error for text after the value.
func (p *parser) trailing() error {
	if wordStart(p.rune()) {
		return p.token(p.i)
	}
	return p.unexpected("expected the end of the text after the value")
}

func (p *parser) space() {
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return
		}
	}
}

func (p *parser) value(depth int) (Value, error) {
	if p.i >= len(p.s) {
		return Value{}, p.fail("Unexpected end-of-input: expected a value")
	}
	if depth > MaxDepth {
		return Value{}, p.fail(fmt.Sprintf("Document nesting depth (%d) exceeds the maximum allowed (%d)", depth,
			MaxDepth))
	}
	if p.compact && depth > 0 {
		if v, ok := p.unopened(); ok {
			return v, nil
		}
	}
	switch c := p.s[p.i]; {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		s, err := p.str()
		return Value{kind: String, text: s}, err
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	case c == 't':
		return OfBool(true), p.word("true")
	case c == 'f':
		return OfBool(false), p.word("false")
	case c == 'n':
		return Value{}, p.word("null")
	case c == '}':
		return Value{}, p.unexpected("expected a value")
	case wordStart(p.rune()):
		return Value{}, p.token(p.i)
	default:
		return Value{}, p.unexpected("expected a valid value " + values)
	}
}

// word reads one of the three literal names.
func (p *parser) word(w string) error {
	start := p.i
	if !strings.HasPrefix(p.s[p.i:], w) {
		return p.token(start)
	}
	p.i += len(w)
	if wordPart(p.rune()) {
		return p.token(start)
	}
	return nil
}

func (p *parser) array(depth int) (Value, error) {
	start := p.i
	p.i++
	p.space()
	n := &node{}
	if p.i < len(p.s) && p.s[p.i] == ']' {
		p.i++
		return Value{kind: Array, node: n}, nil
	}
	for {
		p.space()
		if p.i >= len(p.s) {
			return Value{}, p.unclosed("Array", start, len(n.vals) > 0)
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return Value{}, err
		}
		n.vals = append(n.vals, v)
		more, err := p.comma("Array", start, ']')
		if err != nil {
			return Value{}, err
		}
		if !more {
			return Value{kind: Array, node: n}, nil
		}
	}
}

// comma consumes the separator after an element: true for a comma, false for the closing bracket.
func (p *parser) comma(kind string, start int, closing byte) (bool, error) {
	p.space()
	if p.i >= len(p.s) {
		return false, p.unclosed(kind, start, false)
	}
	switch c := p.s[p.i]; c {
	case ',':
		p.i++
		return true, nil
	case closing:
		p.i++
		return false, nil
	case ']', '}':
		return false, p.fail(fmt.Sprintf("Unexpected close marker '%c': expected '%c' (for %s starting at %s)", c,
			closing, kind, p.place(start)))
	}
	return false, p.unexpected("was expecting comma to separate " + kind + " entries")
}

func (p *parser) object(depth int) (Value, error) {
	start := p.i
	p.i++
	p.space()
	b := NewObject(4)
	if p.i < len(p.s) && p.s[p.i] == '}' {
		p.i++
		return b.Value(), nil
	}
	for first := true; ; first = false {
		p.space()
		if p.i >= len(p.s) {
			return Value{}, p.unclosed("Object", start, !first)
		}
		key, v, err := p.member(depth)
		if err != nil {
			return Value{}, err
		}
		b.Set(key, v)
		more, err := p.comma("Object", start, '}')
		if err != nil {
			return Value{}, err
		}
		if !more {
			return b.Value(), nil
		}
	}
}

// member reads a name, the colon and the value.
func (p *parser) member(depth int) (string, Value, error) {
	if p.s[p.i] != '"' {
		return "", Value{}, p.unexpected("was expecting double-quote to start field name")
	}
	key, err := p.str()
	if err != nil {
		return "", Value{}, err
	}
	p.space()
	if p.i < len(p.s) && p.s[p.i] != ':' {
		return "", Value{}, p.unexpected("was expecting a colon to separate field name and value")
	}
	p.i++
	p.space()
	if p.i >= len(p.s) {
		return "", Value{}, p.unclosed("Object", 0, true)
	}
	v, err := p.value(depth + 1)
	return key, v, err
}

func (p *parser) number() (Value, error) {
	start := p.i
	if p.s[p.i] == '-' {
		p.i++
	}
	whole := p.digits()
	if whole == 0 {
		return Value{}, p.badNumber("expected digit (0-9) to follow minus sign, for valid numeric value")
	}
	if whole > 1 && p.s[p.i-whole] == '0' {
		p.i -= whole
		return Value{}, p.fail("Invalid numeric value: Leading zeroes not allowed")
	}
	if p.i < len(p.s) && p.s[p.i] == '.' {
		p.i++
		if p.digits() == 0 {
			return Value{}, p.badNumber("Decimal point not followed by a digit")
		}
	}
	if p.i < len(p.s) && (p.s[p.i] == 'e' || p.s[p.i] == 'E') {
		p.i++
		if p.i < len(p.s) && (p.s[p.i] == '+' || p.s[p.i] == '-') {
			p.i++
		}
		if p.digits() == 0 {
			return Value{}, p.badNumber("Exponent indicator not followed by a digit")
		}
	}
	return Value{kind: Number, text: p.s[start:p.i]}, nil
}

func (p *parser) digits() int {
	start := p.i
	for p.i < len(p.s) && p.s[p.i] >= '0' && p.s[p.i] <= '9' {
		p.i++
	}
	return p.i - start
}

// str reads a quoted string at the cursor.
func (p *parser) str() (string, error) {
	p.i++
	start := p.i
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == '"':
			s := p.s[start:p.i]
			p.i++
			return s, nil
		case c == '\\':
			return p.escaped(start)
		case c < 0x20:
			return "", p.unescaped()
		default:
			p.i++
		}
	}
	return "", p.fail("Unexpected end-of-input: was expecting closing quote for a string value")
}

// escaped reads the rest of a string once the first backslash has been seen.
func (p *parser) escaped(start int) (string, error) {
	buf := make([]byte, 0, p.i-start+32)
	buf = append(buf, p.s[start:p.i]...)
	for p.i < len(p.s) {
		plain := p.i
		for p.i < len(p.s) && p.s[p.i] != '"' && p.s[p.i] != '\\' && p.s[p.i] >= 0x20 {
			p.i++
		}
		buf = append(buf, p.s[plain:p.i]...)
		if p.i == len(p.s) {
			break
		}
		switch c := p.s[p.i]; {
		case c == '"':
			p.i++
			return string(buf), nil
		case c < 0x20:
			return "", p.unescaped()
		default:
			var err error
			if buf, err = p.escape(buf); err != nil {
				return "", err
			}
		}
	}
	return "", p.fail("Unexpected end-of-input: was expecting closing quote for a string value")
}

func (p *parser) escape(buf []byte) ([]byte, error) {
	if p.i+1 >= len(p.s) {
		return nil, p.fail("Unexpected end-of-input in character escape sequence")
	}
	c := p.s[p.i+1]
	switch c {
	case '"', '\\', '/':
		buf = append(buf, c)
	case 'b':
		buf = append(buf, '\b')
	case 'f':
		buf = append(buf, '\f')
	case 'n':
		buf = append(buf, '\n')
	case 'r':
		buf = append(buf, '\r')
	case 't':
		buf = append(buf, '\t')
	case 'u':
		return p.unicode(buf)
	default:
		return nil, p.fail("Unrecognized character escape " + described(firstRune(p.s[p.i+1:])))
	}
	p.i += 2
	return buf, nil
}

func (p *parser) unicode(buf []byte) ([]byte, error) {
	r, ok := p.hex4(p.i + 2)
	if !ok {
		return nil, p.badHex()
	}
	p.i += 6
	if utf16.IsSurrogate(r) {
		if low, ok := p.hex4(p.i + 2); ok && strings.HasPrefix(p.s[p.i:], `\u`) {
			if full := utf16.DecodeRune(r, low); full != utf8.RuneError {
				p.i += 6
				return utf8.AppendRune(buf, full), nil
			}
		}
		r = utf8.RuneError
	}
	return utf8.AppendRune(buf, r), nil
}

func (p *parser) hex4(at int) (rune, bool) {
	if at+4 > len(p.s) {
		return 0, false
	}
	var r rune
	for _, c := range []byte(p.s[at : at+4]) {
		r <<= 4
		switch {
		case c >= '0' && c <= '9':
			r |= rune(c - '0')
		case c >= 'a' && c <= 'f':
			r |= rune(c-'a') + 10
		case c >= 'A' && c <= 'F':
			r |= rune(c-'A') + 10
		default:
			return 0, false
		}
	}
	return r, true
}
