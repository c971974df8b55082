package jsonpath

import (
	"strings"

	"stepback/jsonvalue"
)

// parseLenient parses JSON in a filter's literal, like json-smart in its permissive mode. Strings may be in single
// quotes, and a word that is no other value is a string.
func parseLenient(s string) (jsonvalue.Value, bool) {
	p := lenientParser{s: s}
	v, ok := p.value(0)
	p.blanks()
	return v, ok && p.i == len(s)
}

type lenientParser struct {
	s string
	i int
}

func (p *lenientParser) blanks() {
	for p.i < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.i]) >= 0 {
		p.i++
	}
}

func (p *lenientParser) accept(c byte) bool {
	p.blanks()
	if p.i < len(p.s) && p.s[p.i] == c {
		p.i++
		return true
	}
	return false
}

func (p *lenientParser) value(depth int) (jsonvalue.Value, bool) {
	switch {
	case depth > maxNesting:
		return jsonvalue.Value{}, false
	case p.accept('['):
		return p.array(depth)
	case p.accept('{'):
		return p.object(depth)
	}
	text, quoted, ok := p.scalar()
	if !ok || quoted {
		return jsonvalue.OfString(text), ok
	}
	if v, err := jsonvalue.Parse(text); err == nil {
		return v, true
	}
	return jsonvalue.OfString(text), true
}

func (p *lenientParser) array(depth int) (jsonvalue.Value, bool) {
	var elements []jsonvalue.Value
	for !p.accept(']') {
		if len(elements) > 0 && !p.accept(',') {
			return jsonvalue.Value{}, false
		}
		v, ok := p.value(depth + 1)
		if !ok {
			return jsonvalue.Value{}, false
		}
		elements = append(elements, v)
	}
	return jsonvalue.OfArray(elements), true
}

func (p *lenientParser) object(depth int) (jsonvalue.Value, bool) {
	b := jsonvalue.NewObject(4)
	for n := 0; !p.accept('}'); n++ {
		if n > 0 && !p.accept(',') {
			return jsonvalue.Value{}, false
		}
		key, _, ok := p.scalar()
		if !ok || !p.accept(':') {
			return jsonvalue.Value{}, false
		}
		v, ok := p.value(depth + 1)
		if !ok {
			return jsonvalue.Value{}, false
		}
		b.Set(key, v)
	}
	return b.Value(), true
}

// scalar parses a quoted string, or a word up to the next separator.
func (p *lenientParser) scalar() (text string, quoted, ok bool) {
	if p.blanks(); p.i >= len(p.s) {
		return "", false, false
	}
	start := p.i
	if c := p.s[start]; c == '\'' || c == '"' {
		end := unescapedIndex(p.s, start+1, c)
		if end < 0 {
			return "", false, false
		}
		p.i = end + 1
		return unescape(p.s[start+1 : end]), true, true
	}
	for p.i < len(p.s) && strings.IndexByte(",:[]{}", p.s[p.i]) < 0 {
		p.i++
	}
	text = strings.TrimSpace(p.s[start:p.i])
	return text, false, text != ""
}
