package intrinsic

import (
	"fmt"

	"stepback/jsonvalue"
)

// MaxNesting is the maximum depth of nested calls, including the outermost one.
const MaxNesting = 10

// Compile parses a call, which must be the whole text. It checks names, numbers of arguments and paths; Eval checks
// the kinds of arguments. The error is a *SyntaxError.
func Compile(text string) (*Call, error) {
	p := parser{s: text}
	c, err := p.call(1)
	if err != nil {
		return nil, err
	}
	if p.i < len(p.s) {
		return nil, p.fail("unexpected text after the call's closing ')'")
	}
	return c, nil
}

type parser struct {
	s string
	i int
}

func (p *parser) fail(format string, values ...any) *SyntaxError {
	return p.failAt(p.i, format, values...)
}

func (p *parser) failAt(i int, format string, values ...any) *SyntaxError {
	return &SyntaxError{Column: i + 1, Message: fmt.Sprintf(format, values...)}
}

func (p *parser) blanks() {
	for p.i < len(p.s) && isBlank(p.s[p.i]) {
		p.i++
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// peek returns the byte at the cursor, 0 at the end of the text.
func (p *parser) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

// call parses States.Name(…) at the cursor.
func (p *parser) call(depth int) (*Call, error) {
	start := p.i
	if depth > MaxNesting {
		return nil, p.fail("calls are nested more than %d deep", MaxNesting)
	}
	name, f, err := p.function()
	if err != nil {
		return nil, err
	}
	arguments, err := p.arguments(depth)
	if err != nil {
		return nil, err
	}
	if wrong := f.accepts(len(arguments)); wrong != "" {
		return nil, p.failAt(start, "%s %s", name, wrong)
	}
	c := &Call{text: p.s[start:p.i], name: name, arguments: arguments, apply: f.apply}
	if f.prepare != nil {
		if prepared := f.prepare(arguments); prepared != nil {
			c.apply = prepared
		}
	}
	return c, nil
}

// function parses the name and the opening parenthesis.
func (p *parser) function() (string, function, error) {
	start := p.i
	for p.i < len(p.s) && isNameByte(p.s[p.i]) {
		p.i++
	}
	name := p.s[start:p.i]
	f, known := functions[name]
	switch {
	case !IsCall(name):
		return "", f, p.failAt(start, "expected a call such as States.Format('{}', $.name)")
	case !known:
		return "", f, p.failAt(start, "'%s' is not the name of an intrinsic function", name)
	case p.peek() != '(':
		return "", f, p.fail("expected '(' after %s", name)
	}
	p.i++
	return name, f, nil
}

func isNameByte(c byte) bool {
	return c == '.' || c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// arguments parses up to and including the closing parenthesis.
func (p *parser) arguments(depth int) ([]argument, error) {
	p.blanks()
	if p.peek() == ')' {
		p.i++
		return nil, nil
	}
	var arguments []argument
	for {
		p.blanks()
		a, err := p.argument(depth)
		if err != nil {
			return nil, err
		}
		arguments = append(arguments, a)
		p.blanks()
		switch p.peek() {
		case ',':
			p.i++
		case ')':
			p.i++
			return arguments, nil
		default:
			return nil, p.fail("expected ',' or ')' after an argument")
		}
	}
}

func (p *parser) argument(depth int) (argument, error) {
	switch c := p.peek(); {
	case c == '\'':
		return p.quoted()
	case c == '$':
		return p.path()
	case IsCall(p.s[p.i:]):
		call, err := p.call(depth + 1)
		return callArgument{call}, err
	default:
		return p.literal()
	}
}

// literal parses a number, true, false or null.
func (p *parser) literal() (argument, error) {
	start := p.i
	for p.i < len(p.s) && p.s[p.i] != ',' && p.s[p.i] != ')' && !isBlank(p.s[p.i]) {
		p.i++
	}
	v, err := jsonvalue.Parse(p.s[start:p.i])
	if err != nil || v.Kind() > jsonvalue.Number {
		return nil, p.failAt(start, "expected an argument: a string in single quotes, a number, true, false, null, a path or a call")
	}
	return literalArgument{value: v}, nil
}
