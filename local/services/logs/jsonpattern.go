package logs

import (
	"encoding/json"
	"strconv"
	"strings"

	"stepback/internal/lazyregexp"
)

// condition is a compiled part of a JSON pattern.
type condition func(document any) bool

// parseJSONPattern compiles { CONDITION }. Conditions compare the value of a selector such as $.a.b[0] (=, !=, <, <=,
// >, >=, IS NULL, IS TRUE, IS FALSE, NOT EXISTS) and are combined with &&, || and parentheses.
func parseJSONPattern(text string) (func(string) bool, error) {
	p := &jsonPattern{}
	inner, ok := strings.CutSuffix(text[1:], "}")
	if !ok || !p.split(inner) {
		return nil, errPattern
	}
	c := p.or()
	if p.wrong || len(p.tokens) > 0 {
		return nil, errPattern
	}
	return func(message string) bool {
		var document any
		return json.Unmarshal([]byte(message), &document) == nil && c(document)
	}, nil
}

// jsonPattern parses a pattern's tokens.
type jsonPattern struct {
	tokens []string
	depth  int
	wrong  bool
}

var patternToken = lazyregexp.New(`^\s*(&&|\|\||[()]|!=|<=|>=|=|<|>|"(?:[^"\\]|\\.)*"|\$[^\s=!<>()&|]*|[^\s=!<>()&|"]+)\s*`)

func (p *jsonPattern) split(text string) bool {
	for strings.TrimSpace(text) != "" {
		m := patternToken.FindStringSubmatch(text)
		if m == nil {
			return false
		}
		p.tokens, text = append(p.tokens, m[1]), text[len(m[0]):]
	}
	return true
}

// next consumes and returns the next token, or "" if none is left.
func (p *jsonPattern) next() string {
	if len(p.tokens) == 0 {
		p.wrong = true
		return ""
	}
	t := p.tokens[0]
	p.tokens = p.tokens[1:]
	return t
}

// takes consumes the next token if it equals token, and reports whether it does.
func (p *jsonPattern) takes(token string) bool {
	if len(p.tokens) == 0 || !strings.EqualFold(p.tokens[0], token) {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

func (p *jsonPattern) or() condition {
	left := p.and()
	for p.takes("||") {
		a, b := left, p.and()
		left = func(d any) bool { return a(d) || b(d) }
	}
	return left
}

func (p *jsonPattern) and() condition {
	left := p.primary()
	for p.takes("&&") {
		a, b := left, p.primary()
		left = func(d any) bool { return a(d) && b(d) }
	}
	return left
}

// maxDepth is the maximum depth of nested parentheses.
const maxDepth = 50

func (p *jsonPattern) primary() condition {
	if p.takes("(") {
		if p.depth++; p.depth > maxDepth {
			p.wrong = true
			return nil
		}
		c := p.or()
		p.depth--
		p.wrong = p.wrong || !p.takes(")")
		return c
	}
	selected, ok := selector(p.next())
	if !ok {
		p.wrong = true
		return nil
	}
	switch {
	case p.takes("NOT"):
		p.wrong = p.wrong || !p.takes("EXISTS")
		return func(d any) bool { _, found := selected(d); return !found }
	case p.takes("EXISTS"):
		return func(d any) bool { _, found := selected(d); return found }
	case p.takes("IS"):
		return p.is(selected)
	}
	return p.comparison(selected)
}

func (p *jsonPattern) is(selected selection) condition {
	want, ok := map[string]any{"NULL": nil, "TRUE": true, "FALSE": false}[strings.ToUpper(p.next())]
	p.wrong = p.wrong || !ok
	return func(d any) bool { v, found := selected(d); return found && v == want }
}

func (p *jsonPattern) comparison(selected selection) condition {
	operator, operand := p.next(), p.next()
	if number, err := strconv.ParseFloat(operand, 64); err == nil {
		compare := map[string]func(a float64) bool{
			"=": func(a float64) bool { return a == number }, "!=": func(a float64) bool { return a != number },
			"<": func(a float64) bool { return a < number }, "<=": func(a float64) bool { return a <= number },
			">": func(a float64) bool { return a > number }, ">=": func(a float64) bool { return a >= number },
		}[operator]
		if compare == nil {
			p.wrong = true
		}
		return func(d any) bool { v, _ := selected(d); n, ok := v.(float64); return ok && compare(n) }
	}
	if operator != "=" && operator != "!=" {
		p.wrong = true
	}
	same := wildcard(operand)
	return func(d any) bool {
		v, _ := selected(d)
		s, ok := v.(string)
		return ok && same(s) == (operator == "=")
	}
}

// wildcard returns a function that reports whether a text matches operand, in which * matches any text. operand may
// be quoted.
func wildcard(operand string) func(string) bool {
	if unquoted, err := strconv.Unquote(operand); err == nil {
		operand = unquoted
	}
	parts := strings.Split(operand, "*")
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return func(s string) bool { return s == operand }
	}
	return func(s string) bool {
		if len(s) < len(first)+len(last) || !strings.HasPrefix(s, first) || !strings.HasSuffix(s, last) {
			return false
		}
		s = s[len(first) : len(s)-len(last)]
		for _, part := range parts[1 : len(parts)-1] {
			_, rest, found := strings.Cut(s, part)
			if !found {
				return false
			}
			s = rest
		}
		return true
	}
}

// selection finds a value in a document.
type selection func(document any) (value any, found bool)

var step = lazyregexp.New(`^(?:\.([^.\[\]]+)|\[(\d+)\]|\.?\['([^']*)'\])`)

// selector compiles $.a['b'][0].
func selector(text string) (selection, bool) {
	rest, ok := strings.CutPrefix(text, "$")
	if !ok || rest == "" {
		return nil, false
	}
	var steps []any
	for rest != "" {
		m := step.FindStringSubmatch(rest)
		if m == nil {
			return nil, false
		}
		rest = rest[len(m[0]):]
		if n, err := strconv.Atoi(m[2]); err == nil {
			steps = append(steps, n)
			continue
		}
		steps = append(steps, m[1]+m[3])
	}
	return func(d any) (any, bool) { return follow(d, steps) }, true
}

func follow(d any, steps []any) (any, bool) {
	for _, s := range steps {
		switch at := s.(type) {
		case string:
			o, ok := d.(map[string]any)
			if !ok {
				return nil, false
			}
			if d, ok = o[at]; !ok {
				return nil, false
			}
		case int:
			list, ok := d.([]any)
			if !ok || at >= len(list) {
				return nil, false
			}
			d = list[at]
		}
	}
	return d, true
}
