package jsonpath

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"stepback/jsonvalue"
)

// Root is the value that a path starts from.
type Root uint8

// The three roots of Amazon States Language: $ is the state's input, $$ the context object and $name a variable.
const (
	Input Root = iota
	Context
	Variable
)

// Path is a compiled path.
type Path struct {
	text     string
	root     Root
	variable string
	steps    steps
	trailing bool // the text has one character after the last step, which Jayway ignores
}

// Compile compiles a path: $…, $$… or $name…, followed by Jayway's steps. The error is a *SyntaxError.
func Compile(text string) (*Path, error) {
	trimmed := strings.Trim(text, " ")
	if !strings.HasPrefix(trimmed, "$") {
		return nil, &SyntaxError{Path: text, Column: 1, Message: "Path must start with '$'"}
	}
	p := &Path{text: text}
	skipped := len(text) - len(strings.TrimLeft(text, " "))
	rest := trimmed[1:]
	switch {
	case strings.HasPrefix(rest, "$"):
		p.root, rest = Context, rest[1:]
		skipped++
	default:
		if n := identifierLength(rest); n > 0 {
			p.root, p.variable, rest = Variable, rest[:n], rest[n:]
			skipped += n
		}
	}
	c := compiler{whole: text}
	program, trailing, err := c.compile("$"+rest, skipped)
	if err != nil {
		return nil, err
	}
	p.steps, p.trailing = program, trailing
	return p, nil
}

// identifierLength returns the length in bytes of the variable name at the start of s; 0 if there is none. A name
// is a letter, then letters, digits, marks and underscores.
func identifierLength(s string) int {
	for i, r := range s {
		if unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) {
			continue
		}
		if i > 0 && (r == '_' || unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Pc)) {
			continue
		}
		return i
	}
	if !utf8.ValidString(s) {
		return 0
	}
	return len(s)
}

// Text returns the path as it was written.
func (p *Path) Text() string { return p.text }

// Root returns the root that the path starts from.
func (p *Path) Root() Root { return p.root }

// Variable returns the name of the variable the path starts from, without the $; empty for the other roots.
func (p *Path) Variable() string { return p.variable }

// Definite reports whether the path identifies a single node. Its result is then that node, or an error. The result
// of any other path is an array of the nodes found.
func (p *Path) Definite() bool { return p.steps.definite }

// IsReference reports whether the path is a reference path: only member names and array indexes from 0, so that it
// identifies a single node. Any root is accepted.
func (p *Path) IsReference() bool {
	if p.trailing {
		return false
	}
	for _, s := range p.steps.list {
		switch s := s.(type) {
		case *propertyStep:
			if len(s.names) > 1 || s.quote == 0 && strings.ContainsAny(s.names[0], "@,:?*") {
				return false
			}
		case *indexStep:
			if len(s.indexes) > 1 || s.indexes[0] < 0 {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// Eval evaluates the path on the value of its root with Jayway's semantics. A definite path returns its node, and
// any other path an array. The error is a *NotFoundError if the path selects nothing, and an *EvaluationError if it
// cannot be applied at all.
func (p *Path) Eval(root jsonvalue.Value) (jsonvalue.Value, error) {
	visits := maxVisits
	return p.eval(root, &visits, nil)
}

// Member returns the node of a path that has only names of members, without counting visits. ok is false if the path is
// not of that kind or Eval has to explain why there is no such node.
func (p *Path) Member(root jsonvalue.Value) (v jsonvalue.Value, ok bool) {
	if p.steps.plain == nil {
		return jsonvalue.Value{}, false
	}
	return p.steps.walk(root)
}

func (p *Path) eval(root jsonvalue.Value, visits *int, interrupted func() error) (jsonvalue.Value, error) {
	if v, ok := p.Member(root); ok {
		return v, nil
	}
	limit := min(*visits, maxVisits)
	b := &budget{visits: limit, limit: limit, untilCheck: checkEvery, interrupted: interrupted}
	defer func() { *visits -= limit - b.visits }()
	e := evaluation{steps: &p.steps, root: root, budget: b}
	v, err := e.run(root)
	if b.stopped != nil { // a filter ignores the errors of its paths
		return jsonvalue.Value{}, b.stopped
	}
	return v, err
}

// Select evaluates the path like Eval, except that an indefinite path that selects nothing returns an empty array.
// The real service does so in payloads for "$.missing[*]", where Jayway itself reports a missing property.
func (p *Path) Select(root jsonvalue.Value) (jsonvalue.Value, error) {
	visits := maxVisits
	return p.SelectWithin(root, &visits, nil)
}

// SelectWithin evaluates the path like Select and subtracts the nodes that it visits from visits. If it would have to
// visit more, the error is an *EvaluationError. The function interrupted, if not nil, is called every 4,096 visits; an
// error that it returns ends the evaluation and is returned.
func (p *Path) SelectWithin(root jsonvalue.Value, visits *int, interrupted func() error) (jsonvalue.Value, error) {
	v, err := p.eval(root, visits, interrupted)
	if err == nil || p.Definite() {
		return v, err
	}
	if _, missing := errors.AsType[*NotFoundError](err); missing {
		return jsonvalue.OfArray(nil), nil
	}
	return v, err
}
