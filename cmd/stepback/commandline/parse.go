package commandline

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Line is a parsed command line.
type Line struct {
	// Verb is the last verb of the line, or the default verb; nil if there is none.
	Verb *Node
	// Help and Version are true if the line requests them; the rest of the line is then ignored. If it requests both,
	// only the first one is true.
	Help, Version bool

	path   []element
	values map[*Value]reflect.Value // values of the line, kept here until the line has been parsed completely
	rest   *scanner
}

// element is one parsed element of the line: a verb (at first the program), a flag or an argument.
type element struct {
	node  *Node
	value *Value
}

// ParseError reports a line that does not match the grammar.
type ParseError struct {
	// Verb is the last verb that was parsed; nil if there was none.
	Verb *Node
	err  error
}

func (e *ParseError) Error() string { return e.err.Error() }

func (e *ParseError) Unwrap() error { return e.err }

// expectedError reports a missing value.
type expectedError struct {
	of  string
	got token
}

func (e *expectedError) Error() string {
	return fmt.Sprintf("expected %s value but got %q (%s)", e.of, e.got, e.got.looks())
}

// Parse parses a line, without the program's name, into the struct from which the grammar was built. All its errors
// are *ParseError. If the line requests help or the version, the struct is unchanged.
func (p *Program) Parse(args []string) (*Line, error) {
	p.top.forget()
	l := &Line{path: []element{{node: p.top}}, values: map[*Value]reflect.Value{}, rest: scan(args, word)}
	err := l.read(p.top)
	for _, e := range l.path {
		if e.node != nil && e.node != p.top {
			l.Verb = e.node
		}
	}
	if err == nil {
		if l.Help || l.Version {
			return l, nil
		}
		err = l.fill()
	}
	if err == nil {
		err = l.check()
	}
	if err != nil {
		return nil, &ParseError{Verb: l.Verb, err: err}
	}
	return l, nil
}

// forget marks all values as not set, as before the first line.
func (n *Node) forget() {
	for _, v := range n.values() {
		v.set = false
	}
	for _, c := range n.Children {
		c.forget()
	}
}

// values returns the values of a node: of its flags, then of its arguments.
func (n *Node) values() []*Value {
	all := make([]*Value, 0, len(n.Flags)+len(n.Args))
	for _, f := range n.Flags {
		all = append(all, f.Value)
	}
	return append(all, n.Args...)
}

// read parses the part of the line after a node's name.
func (l *Line) read(n *Node) error {
	flags := slices.Concat(n.flagsByLevel(true)...)
	if n.byDefault != nil {
		flags = slices.Concat(n.byDefault.flagsByLevel(true)...)
	}
	args := 0
	for {
		switch t := l.rest.peek(); t.kind {
		case endOfLine:
			if n.byDefault != nil && !l.Help {
				l.path = append(l.path, element{node: n.byDefault})
			}
			return nil
		case word:
			l.sort(t.text)
		case shortTail:
			l.rest.pop()
			l.short(t.text)
		case longFlag, shortFlag:
			if err := l.readFlag(flags, t.String()); err != nil {
				return err
			}
		case flagValue:
			return fmt.Errorf("unexpected flag argument %q", t.text)
		case positional:
			if args == len(n.Args) {
				return l.readVerb(n, t.text)
			}
			a := n.Args[args]
			if err := l.readValue(a); err != nil {
				return err
			}
			l.path = append(l.path, element{value: a})
			args++
		}
	}
}

// sort classifies a word by its first letters, and splits it into tokens.
func (l *Line) sort(text string) {
	l.rest.pop()
	switch {
	case text == "--":
		l.rest.end()
	case strings.HasPrefix(text, "--"):
		name, value, ok := strings.Cut(text[2:], "=")
		if ok {
			l.rest.push(value, flagValue)
		}
		l.rest.push(name, longFlag)
	case strings.HasPrefix(text, "-") && text != "-":
		l.short(text[1:])
	default:
		l.rest.push(text, positional)
	}
}

// short separates a short flag from the text after the dash.
func (l *Line) short(text string) {
	_, size := utf8.DecodeRuneInString(text)
	if text[size:] != "" {
		l.rest.push(text[size:], shortTail)
	}
	l.rest.push(text[:size], shortFlag)
}

// readValue reads a value of a flag or argument, in addition to those read for it before.
func (l *Line) readValue(v *Value) error {
	to, ok := l.values[v]
	if !ok {
		to = reflect.New(v.target.Type()).Elem()
		if v.isSlice() {
			to.Set(reflect.MakeSlice(to.Type(), 0, 0))
		}
		l.values[v] = to
	}
	return v.read(l.rest, to)
}

func (v *Value) read(s *scanner, to reflect.Value) error {
	if err := v.decode(v, s, to); err != nil {
		return fmt.Errorf("%s: %w", v.called(), err)
	}
	v.set = true
	return nil
}

// readFlag reads a flag and its value.
func (l *Line) readFlag(flags []*Flag, name string) error {
	var candidates []string
	for _, f := range flags {
		called := []string{"--" + f.Name}
		if f.Short != 0 {
			called = append(called, "-"+string(f.Short))
		}
		if !slices.Contains(called, name) {
			candidates = append(candidates, called...)
			continue
		}
		l.rest.pop()
		err := l.readValue(f.Value)
		var expected *expectedError
		switch {
		case err == nil:
		case errors.As(err, &expected) && (expected.got.looks() == longFlag || expected.got.looks() == shortFlag):
			return fmt.Errorf("%w; perhaps try %s=%q?", err, f.called(), expected.got)
		default:
			return err
		}
		l.Help = l.Help || f.help && !l.Version
		l.Version = l.Version || f.version && !l.Help
		l.path = append(l.path, element{value: f.Value})
		return nil
	}
	return didYouMean("unknown flag "+name, name, candidates)
}

// readVerb continues with the verb that a word names, or with the default verb if it names none.
func (l *Line) readVerb(n *Node, name string) error {
	var candidates []string
	next := n.byDefault
	for _, c := range n.Children {
		if !c.Hidden {
			candidates = append(candidates, c.Name)
		}
		if c.Name == name {
			if err := l.notOfDefault(n, c); err != nil {
				return err
			}
			l.rest.pop()
			next = c
			break
		}
	}
	if next == nil {
		return didYouMean("unexpected argument "+name, name, candidates)
	}
	l.path = append(l.path, element{node: next})
	return l.read(next)
}

// notOfDefault rejects flags of the default verb if another verb is named after them.
func (l *Line) notOfDefault(n, selected *Node) error {
	if n.byDefault == nil || selected == n.byDefault {
		return nil
	}
	for _, e := range l.path {
		if e.value != nil && e.value.flag != nil && slices.Contains(n.byDefault.Flags, e.value.flag) {
			return fmt.Errorf("flag --%s applies to the default command %q, not %q", e.value.Name, n.byDefault.Name, selected.Name)
		}
	}
	return nil
}

// fill sets all values of the line's verbs: to the line's value, the environment's, or the default.
func (l *Line) fill() error {
	for _, e := range l.path {
		if e.node == nil {
			continue
		}
		for _, v := range e.node.values() {
			if given, ok := l.values[v]; ok {
				v.target.Set(given)
			} else if err := v.fallBack(); err != nil {
				return err
			}
		}
	}
	return nil
}

// fallBack sets a value that is not on the line.
func (v *Value) fallBack() error {
	v.target.SetZero()
	for _, name := range v.envs {
		if text, ok := os.LookupEnv(name); ok {
			if err := v.read(scan([]string{text}, flagValue), v.target); err != nil {
				return fmt.Errorf("%w (from envar %s=%q)", err, name, text)
			}
			return nil
		}
	}
	if v.hasDefault {
		return v.read(scan([]string{v.byDefault}, flagValue), v.target)
	}
	return nil
}

// didYouMean returns an error that adds the names similar to a mistyped one.
func didYouMean(said, name string, candidates []string) error {
	var near []string
	for _, c := range candidates {
		if strings.HasPrefix(c, name) || distance(c, name) <= 2 {
			near = append(near, fmt.Sprintf("%q", c))
		}
	}
	switch len(near) {
	case 0:
		return errors.New(said)
	case 1:
		return fmt.Errorf("%s, did you mean %s?", said, near[0])
	default:
		return fmt.Errorf("%s, did you mean one of %s?", said, strings.Join(near, ", "))
	}
}

// distance returns the number of letters to insert, delete or change to turn one word into another.
func distance(a, b string) int {
	to := []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for _, x := range a {
		corner := row[0]
		row[0]++
		for j, y := range to {
			change := corner
			if x != y {
				change++
			}
			corner, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, change)
		}
	}
	return row[len(to)]
}
