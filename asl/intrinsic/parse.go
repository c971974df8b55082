package intrinsic

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"stepback/asl/jsonpath"
	"stepback/asl/jsonvalue"
)

// IsCall reports whether a text looks like a call of an intrinsic function rather than a path.
func IsCall(s string) bool { return strings.HasPrefix(strings.TrimLeft(s, " "), "States.") }

// Compile reads a call: States.Name(argument, …) where an argument is a string in single quotes, a number, true, false, null,
// a path ($…, $$…, $name…) or another call. Names, numbers of arguments and, where they can be known beforehand, kinds of
// arguments are checked. The error is a *SyntaxError.
func Compile(s string) (*Call, error) {
	p := &parser{s: s}
	root, err := p.call()
	if err != nil {
		return nil, err
	}
	if p.blanks(); p.i < len(s) {
		return nil, p.fail(p.i, "unexpected text after the call")
	}
	return &Call{text: s, root: root, paths: p.paths}, nil
}

type parser struct {
	s     string
	i     int
	calls int
	paths []*jsonpath.Path
}

func (p *parser) fail(at int, format string, args ...any) error {
	return &SyntaxError{Text: p.s, Column: min(at, len(p.s)) + 1, Message: fmt.Sprintf(format, args...)}
}

func (p *parser) blanks() {
	for p.i < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.i]) >= 0 {
		p.i++
	}
}

// peek returns the next character that is not blank, 0 at the end.
func (p *parser) peek() byte {
	if p.blanks(); p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

// word returns the end of the run of letters, digits and characters of numbers and names at the cursor.
func (p *parser) word() int {
	end := p.i
	for end < len(p.s) {
		c := p.s[end]
		if c|0x20 < 'a' || c|0x20 > 'z' {
			if strings.IndexByte("0123456789.+-_", c) < 0 {
				break
			}
		}
		end++
	}
	return end
}

func (p *parser) call() (*invocation, error) {
	p.blanks()
	start := p.i
	p.i = p.word()
	name := p.s[start:p.i]
	f, ok := functions[name]
	if !ok {
		return nil, p.fail(start, "%q is not an intrinsic function; there are %s", name, functionNames())
	}
	if p.calls++; p.calls > maxCalls {
		return nil, p.fail(start, "more than %d calls in one field", maxCalls)
	}
	if p.peek() != '(' {
		return nil, p.fail(p.i, "expected '(' after %s", name)
	}
	p.i++
	inv := &invocation{function: f}
	if err := p.arguments(inv); err != nil {
		return nil, err
	}
	if !f.acceptsCount(len(inv.arguments)) {
		return nil, p.fail(start, "%s takes %s, not %d", name, f.takes(), len(inv.arguments))
	}
	if name == "States.Format" && inv.arguments[0].isLiteral() {
		inv.template = parseTemplate(inv.arguments[0].raw)
	}
	return inv, nil
}

func functionNames() string {
	names := make([]string, 0, len(functions))
	for name := range functions {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func (a *argument) isLiteral() bool { return a.path == nil && a.call == nil }

// arguments reads up to the closing parenthesis.
func (p *parser) arguments(inv *invocation) error {
	if p.peek() == ')' {
		p.i++
		return nil
	}
	for {
		p.blanks()
		start := p.i
		a, err := p.argument()
		if err != nil {
			return err
		}
		if err := p.checkKind(inv, &a, start); err != nil {
			return err
		}
		inv.arguments = append(inv.arguments, a)
		switch p.peek() {
		case ',':
			p.i++
		case ')':
			p.i++
			return nil
		default:
			return p.fail(p.i, "expected ',' or ')'")
		}
	}
}

// checkKind refuses an argument whose kind is known and wrong.
func (p *parser) checkKind(inv *invocation, a *argument, start int) error {
	want := inv.function.kindOf(len(inv.arguments))
	switch {
	case want == anything || a.path != nil:
		return nil
	case a.call != nil:
		if got := a.call.function.result; got != anything && got != want {
			return p.fail(start, "argument %d of %s must be %s, but %s yields %s",
				len(inv.arguments)+1, inv.function.name, want, a.call.function.name, got)
		}
	case !want.accepts(a.literal):
		return p.fail(start, "argument %d of %s must be %s", len(inv.arguments)+1, inv.function.name, want)
	}
	return nil
}

func (p *parser) argument() (argument, error) {
	switch c := p.peek(); {
	case c == '\'':
		return p.quoted()
	case c == '$':
		return p.path()
	case c == 0:
		return argument{}, p.fail(p.i, "unexpected end of the call, expected an argument")
	case strings.HasPrefix(p.s[p.i:], "States."):
		call, err := p.call()
		return argument{call: call}, err
	}
	end := p.word()
	v, err := jsonvalue.Parse(p.s[p.i:end])
	if err != nil {
		return argument{}, p.fail(p.i, "expected an argument: a string in single quotes, a number, true, false, null, a path or a call")
	}
	p.i = end
	return argument{literal: v}, nil
}

// quoted reads a string in single quotes. A backslash must be followed by a quote, a brace or a backslash.
func (p *parser) quoted() (argument, error) {
	start := p.i + 1
	var b strings.Builder
	for i := start; i < len(p.s); i++ {
		switch c := p.s[i]; c {
		case '\'':
			p.i = i + 1
			return argument{literal: jsonvalue.OfString(b.String()), raw: p.s[start:i]}, nil
		case '\\':
			if i++; i == len(p.s) || strings.IndexByte(`'{}\`, p.s[i]) < 0 {
				return argument{}, p.fail(i-1, `a backslash must be escaped as \\; the escapes are \' \{ \} \\`)
			}
			b.WriteByte(p.s[i])
		default:
			b.WriteByte(c)
		}
	}
	return argument{}, p.fail(len(p.s), "unexpected end of the call inside a string")
}

// path reads a path up to the comma or parenthesis that ends the argument.
func (p *parser) path() (argument, error) {
	start, depth := p.i, 0
scan:
	for ; p.i < len(p.s); p.i++ {
		switch c := p.s[p.i]; c {
		case '[', '(':
			depth++
		case ']':
			depth--
		case ')':
			if depth == 0 {
				break scan
			}
			depth--
		case ',':
			if depth == 0 {
				break scan
			}
		case '\'', '"':
			if depth > 0 {
				p.skipQuoted(c)
			}
		}
	}
	text := strings.TrimRight(p.s[start:min(p.i, len(p.s))], " \t\r\n")
	path, err := jsonpath.Compile(text)
	if err != nil {
		return argument{}, p.pathError(start, err)
	}
	p.paths = append(p.paths, path)
	return argument{path: path}, nil
}

// skipQuoted moves to the closing quote, or to the end of the text.
func (p *parser) skipQuoted(quote byte) {
	for p.i++; p.i < len(p.s) && p.s[p.i] != quote; p.i++ {
		if p.s[p.i] == '\\' {
			p.i++
		}
	}
}

// pathError moves the place of a path's syntax error to its place in the call.
func (p *parser) pathError(start int, err error) error {
	if e, ok := errors.AsType[*jsonpath.SyntaxError](err); ok {
		return p.fail(start+e.Column-1, "%s", e.Message)
	}
	return p.fail(start, "%v", err)
}
