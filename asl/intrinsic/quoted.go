package intrinsic

import (
	"strings"

	"stepback/jsonvalue"
)

// quoted parses a string in single quotes at the cursor. It rejects a backslash that does not begin an escape, as
// the service does when a machine is created. According to the specification, this would only be an error at
// evaluation.
func (p *parser) quoted() (argument, error) {
	start := p.i
	p.i++
	for p.i < len(p.s) && p.s[p.i] != '\'' {
		if p.s[p.i] == '\\' {
			p.i++
		}
		p.i++
	}
	if p.i >= len(p.s) {
		return nil, p.failAt(start, "the string is not closed, expected a single quote at its end (one inside the string is written \\')")
	}
	raw := p.s[start+1 : p.i]
	p.i++
	if i := openEscapeIn(raw); i >= 0 {
		return nil, p.failAt(start+1+i, `the backslash escapes nothing, expected one of \' \{ \} \\`)
	}
	return literalArgument{value: jsonvalue.OfString(unescape(raw)), raw: raw}, nil
}

// openEscapeIn returns the index of the first backslash that is not part of an escape, or -1.
func openEscapeIn(raw string) int {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		if i+1 == len(raw) || !strings.ContainsRune(`'{}\`, rune(raw[i+1])) {
			return i
		}
		i++
	}
	return -1
}

// unescape removes the backslash of every escape.
func unescape(raw string) string {
	if !strings.Contains(raw, `\`) {
		return raw
	}
	var b strings.Builder
	b.Grow(len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] == '\\' {
			i++
		}
		b.WriteByte(raw[i])
	}
	return b.String()
}
