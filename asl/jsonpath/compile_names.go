package jsonpath

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// quotedNames reads ['name'] or ["one", "two"] at the cursor.
func (p *parser) quotedNames(quote byte) error {
	var names []string
	at, comma := p.i+1, false
	for ; at < len(p.s); at++ {
		c := p.s[at]
		if c == ']' || c == ',' {
			if comma {
				return p.fail(at, "Found empty property at index %d", p.position(at))
			}
			if c == ']' {
				break
			}
			comma = true
			continue
		}
		if c != quote {
			continue
		}
		comma = false
		end, err := p.closingQuote(at)
		if err != nil {
			return err
		}
		names = append(names, quotedName(p.s[at+1:end], quote))
		at = end
	}
	if at >= len(p.s) {
		return p.fail(len(p.s)-1, "Property has not been closed - missing closing ]")
	}
	p.list = append(p.list, &propertyStep{names: names, quote: quote})
	p.i = at + 1
	return nil
}

// closingQuote returns the offset of the quote that closes the one at start. A comma or a bracket must follow it.
func (p *parser) closingQuote(start int) (int, error) {
	quote := p.s[start]
	end := unescapedIndex(p.s, start+1, quote)
	if end < 0 {
		return 0, p.fail(start, "Property has not been closed - missing closing %c", quote)
	}
	if c := p.significant(end); c != ']' && c != ',' {
		return 0, p.fail(end, "Property must be separated by comma or Property must be terminated close square bracket at index %d",
			p.position(end))
	}
	return end, nil
}

// unescapedIndex returns the offset of the first c from start on that no backslash precedes; -1 if there is none.
func unescapedIndex(s string, start int, c byte) int {
	for i := start; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case c:
			return i
		}
	}
	return -1
}

// quotedName resolves the escapes of a name. Between single quotes \" is not an escape: Step Functions, unlike
// Jayway, looks for a name with the backslash.
func quotedName(s string, quote byte) string {
	if quote == '\'' {
		s = strings.ReplaceAll(s, `\"`, `\\"`)
	}
	return unescape(s)
}

// unescape resolves the backslash escapes of Java source; a backslash before any other character is dropped.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	buf := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			buf = append(buf, s[i])
			continue
		}
		i++
		switch s[i] {
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
			if r, err := strconv.ParseUint(s[i+1:min(i+5, len(s))], 16, 32); err == nil && i+5 <= len(s) {
				buf = utf8.AppendRune(buf, rune(r))
				i += 4
				continue
			}
			buf = append(buf, 'u')
		default:
			buf = append(buf, s[i])
		}
	}
	return string(buf)
}
