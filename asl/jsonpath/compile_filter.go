package jsonpath

import (
	"errors"
	"fmt"
	"strings"

	"stepback/jsonvalue"
)

// filter reads [?(…)] at the cursor.
func (p *parser) filter() error {
	question := p.significantAt(p.i)
	open := p.significantAt(question)
	if p.is(open, ']') || p.is(open, ',') {
		return p.fail(question, "Not enough predicates supplied for filter [%s] at position %d",
			p.s[p.i+1:question+1], p.position(p.i))
	}
	if !p.is(open, '(') {
		return p.unexpected()
	}
	end := matchingClose(p.s, open, ')', true)
	if end < 0 {
		end = matchingClose(p.s, open, ')', false) // a slash that does not open a regular expression
	}
	if end < 0 || p.significant(end) != ']' {
		return p.unexpected()
	}
	f := &filterParser{c: p.c, s: p.s[open : end+1], offset: p.offset + open}
	condition, err := f.parse()
	if err != nil {
		return err
	}
	p.list = append(p.list, &filterStep{condition: condition})
	p.i = p.significantAt(end) + 1
	return nil
}

// matchingClose returns the offset of the bracket that closes the one at open; -1 if there is none. It skips quoted
// text and, if patterns is true, regular expressions.
func matchingClose(s string, open int, closing byte, patterns bool) int {
	depth := 0
	for i := open; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\'' || c == '"' || patterns && c == '/':
			if i = unescapedIndex(s, i+1, c); i < 0 {
				return -1
			}
		case c == s[open]:
			depth++
		case c == closing:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// filterParser reads the expression of a filter, with its parentheses.
type filterParser struct {
	c      *compiler
	s      string
	i      int
	offset int // of s in the whole text
	depth  int
}

func (f *filterParser) fail(format string, args ...any) error {
	return &SyntaxError{Path: f.c.whole, Column: f.offset + min(f.i, len(f.s)) + 1, Message: fmt.Sprintf(format,
		args...)}
}

// malformed returns Jayway's message for a text that it cannot parse.
func (f *filterParser) malformed() error {
	char := ""
	if f.i < len(f.s) {
		char = f.s[f.i : f.i+1]
	}
	return f.fail("Failed to parse filter: %s, error on position: %d, char: %s", f.s,
		jsonvalue.LenUTF16(f.s[:min(f.i, len(f.s))]), char)
}

func (f *filterParser) parse() (condition, error) {
	c, err := f.or()
	if err != nil {
		return nil, err
	}
	if f.blanks(); f.i < len(f.s) {
		return nil, f.fail("Expected end of filter expression instead of: %s", f.s[f.i:])
	}
	return c, nil
}

func (f *filterParser) blanks() {
	for f.i < len(f.s) && f.s[f.i] == ' ' {
		f.i++
	}
}

// peek returns the next non-blank character, or 0 at the end.
func (f *filterParser) peek() byte {
	if f.blanks(); f.i < len(f.s) {
		return f.s[f.i]
	}
	return 0
}

// accept consumes text if it comes next, and reports whether it did.
func (f *filterParser) accept(text string) bool {
	if f.blanks(); !strings.HasPrefix(f.s[f.i:], text) {
		return false
	}
	f.i += len(text)
	return true
}

func (f *filterParser) or() (condition, error) {
	parts, err := f.chain("||", f.and)
	if err != nil || len(parts) > 1 {
		return anyOf(parts), err
	}
	return parts[0], nil
}

func (f *filterParser) and() (condition, error) {
	parts, err := f.chain("&&", f.factor)
	if err != nil || len(parts) > 1 {
		return allOf(parts), err
	}
	return parts[0], nil
}

func (f *filterParser) chain(operator string, read func() (condition, error)) ([]condition, error) {
	var parts []condition
	for {
		part, err := read()
		if err != nil {
			return nil, err
		}
		if parts = append(parts, part); !f.accept(operator) {
			return parts, nil
		}
	}
}

// factor reads a comparison, a condition in parentheses, or a negated condition. A ! before a path is part of the
// path's existence test.
func (f *filterParser) factor() (condition, error) {
	f.depth++
	defer func() { f.depth-- }()
	if f.depth > maxNesting {
		return nil, f.fail("The filter nests conditions deeper than %d levels", maxNesting)
	}
	switch f.peek() {
	case '!':
		start := f.i
		f.i++
		if c := f.peek(); c == '@' || c == '$' {
			f.i = start
			break
		}
		of, err := f.factor()
		return not{of}, err
	case '(':
		f.i++
		c, err := f.or()
		if err != nil {
			return nil, err
		}
		if f.peek() != ')' {
			return nil, f.fail("Expected character: )")
		}
		f.i++
		return c, nil
	}
	return f.relation()
}

// relation parses a comparison or an existence test. An existence test is a path alone.
func (f *filterParser) relation() (condition, error) {
	left, err := f.source()
	if err != nil {
		if broken, ok := errors.AsType[*brokenLiteral](err); ok {
			return nil, broken.error
		}
		return nil, err
	}
	after := f.i
	c := comparison{left: left}
	if err = f.operator(&c); err == nil {
		if c.right, err = f.right(c.symbol); err == nil {
			return c, nil
		}
	}
	if broken, ok := errors.AsType[*brokenLiteral](err); ok {
		return nil, broken.error
	}
	f.i = after
	path, ok := left.(*pathOperand)
	if !ok {
		return nil, f.fail("Expected path node")
	}
	return existence{path: path, want: !path.negated}, nil
}

// right parses the right-hand side of a comparison. For operators that compare texts, an operand without any
// recognised form is unquoted text.
func (f *filterParser) right(operator string) (source, error) {
	start := f.i
	textual := strings.IndexByte("=!<>", operator[0]) >= 0 && operator != "=~"
	if textual && f.peek() == '/' { // only =~ takes regular expressions
		return f.bare()
	}
	s, err := f.source()
	if !textual || err == nil && f.comparisonEnds() {
		return s, err
	}
	stopped := f.i
	f.i = start
	if text, bareErr := f.bare(); bareErr == nil && f.comparisonEnds() {
		return text, nil
	}
	f.i = stopped
	return s, err
}

// operator parses the operator of a comparison: symbols, or a word that ends at a blank.
func (f *filterParser) operator(c *comparison) error {
	f.blanks()
	start := f.i
	symbol := f.i < len(f.s) && isOperatorSymbol(f.s[f.i])
	for f.i < len(f.s) && (symbol && isOperatorSymbol(f.s[f.i]) || !symbol && f.s[f.i] != ' ') {
		f.i++
	}
	name := f.s[start:f.i]
	key := strings.ToUpper(name)
	holds, ok := relations[key]
	if !ok {
		return f.fail("Filter operator %s is not supported!", name)
	}
	c.symbol, c.holds, c.pairwise = key, holds, pairwise[key]
	return nil
}

func isOperatorSymbol(c byte) bool { return strings.IndexByte("<>=~!", c) >= 0 }
