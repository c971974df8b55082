package insights

import (
	"fmt"
	"strings"
)

// Error describes what is wrong with a query. Start and End are byte offsets in its text.
type Error struct {
	Start, End int
	Message    string
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// kind is the kind of a token.
type kind int

const (
	ended   kind = iota
	word         // a name of a command, field or function, or a word such as and
	field        // a name in backticks
	literal      // a quoted text
	number
	sign // an operator or bracket
)

// token is a piece of a query.
type token struct {
	kind       kind
	text       string
	start, end int
}

// is reports whether the token is the word or sign s, ignoring case.
func (t token) is(s string) bool {
	return (t.kind == word || t.kind == sign) && strings.EqualFold(t.text, s)
}

type parser struct {
	query string
	at    int
	ahead *token
}

func (p *parser) fail(start, end int, format string, args ...any) {
	panic(&Error{start, end, fmt.Sprintf(format, args...)})
}

func (p *parser) refuse(t token, expected string) {
	if t.kind == ended {
		p.fail(t.start, t.end, "unexpected end of the query: %s is expected", expected)
	}
	p.fail(t.start, t.end, "unexpected symbol found %s at position %d: %s is expected", t.text, t.start, expected)
}

// blank skips white space and comments.
func (p *parser) blank() {
	for p.at < len(p.query) {
		switch p.query[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		case '#':
			for p.at < len(p.query) && p.query[p.at] != '\n' {
				p.at++
			}
		default:
			return
		}
	}
}

func (p *parser) peek() token {
	if p.ahead == nil {
		t := p.scan()
		p.ahead = &t
	}
	return *p.ahead
}

func (p *parser) next() token {
	t := p.peek()
	p.ahead = nil
	return t
}

// take consumes the next token if it is the word or sign s.
func (p *parser) take(s string) bool {
	if p.peek().is(s) {
		p.ahead = nil
		return true
	}
	return false
}

func (p *parser) need(s string) {
	if !p.take(s) {
		p.refuse(p.peek(), s)
	}
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '@' || c == '$' || c >= 0x80
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func (p *parser) scan() token {
	p.blank()
	start := p.at
	made := func(k kind, s string) token { return token{k, s, start, p.at} }
	if p.at == len(p.query) {
		return made(ended, "")
	}
	run := func(f func(byte) bool) string {
		from := p.at
		for p.at < len(p.query) && f(p.query[p.at]) {
			p.at++
		}
		return p.query[from:p.at]
	}
	c := p.query[p.at]
	switch {
	case letter(c):
		return made(word, run(func(c byte) bool { return letter(c) || digit(c) || c == '.' }))
	case digit(c) || c == '.' && p.at+1 < len(p.query) && digit(p.query[p.at+1]):
		return made(number, run(func(c byte) bool { return digit(c) || c == '.' || letter(c) }))
	case c == '`':
		s := p.quoted('`')
		return made(field, s)
	case c == '"' || c == '\'':
		s := p.quoted(c)
		return made(literal, s)
	}
	for _, s := range []string{"!=", "<=", ">=", "=~", "==", "||", "&&"} {
		if strings.HasPrefix(p.query[p.at:], s) {
			p.at += len(s)
			return made(sign, s)
		}
	}
	p.at++
	return made(sign, string(c))
}

// quoted parses a text up to its closing quote; \ escapes quotes and itself.
func (p *parser) quoted(quote byte) string {
	start := p.at
	p.at++
	var b strings.Builder
	for p.at < len(p.query) {
		c := p.query[p.at]
		p.at++
		switch {
		case c == quote:
			return b.String()
		case c == '\\' && p.at < len(p.query):
			next := p.query[p.at]
			p.at++
			switch next {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case quote, '\\':
				b.WriteByte(next)
			default:
				b.WriteByte('\\')
				b.WriteByte(next)
			}
		default:
			b.WriteByte(c)
		}
	}
	p.fail(start, len(p.query), "the text that begins at position %d has no end", start)
	return ""
}

// pattern parses a regular expression between slashes, if one is next.
func (p *parser) pattern() (expression string, start int, ok bool) {
	if p.ahead != nil {
		if !p.ahead.is("/") {
			return "", 0, false
		}
		p.at, p.ahead = p.ahead.start, nil
	}
	p.blank()
	if p.at >= len(p.query) || p.query[p.at] != '/' {
		return "", 0, false
	}
	start = p.at
	for i := p.at + 1; i < len(p.query); i++ {
		switch p.query[i] {
		case '\\':
			i++
		case '/':
			expression = strings.ReplaceAll(p.query[start+1:i], `\/`, "/")
			p.at = i + 1
			return expression, start, true
		}
	}
	p.fail(start, len(p.query), "the regular expression that begins at position %d has no end", start)
	return "", 0, false
}
