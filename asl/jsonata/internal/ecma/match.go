package ecma

import (
	"errors"
	"unicode"
)

// ErrSteps is returned when a match takes more steps than allowed.
var ErrSteps = errors.New("the regular expression takes too long")

// Regexp is a compiled pattern, safe for concurrent use.
type Regexp struct {
	program               program
	groups                int
	ignoreCase, multiline bool
}

// Compile compiles a pattern. Errors have V8's texts.
func Compile(pattern []uint16, ignoreCase, multiline bool) (*Regexp, error) {
	p := &parser{in: pattern, names: map[string]int{}}
	p.count()
	root, err := p.alternatives()
	if err != nil {
		return nil, err
	}
	if p.more() {
		return nil, errUnmatched
	}
	if err := p.resolve(root); err != nil {
		return nil, err
	}
	re := &Regexp{groups: p.groups, ignoreCase: ignoreCase, multiline: multiline}
	re.program.registers = 2 * (p.groups + 1)
	re.program.compile(root, false)
	re.program.emit(instruction{code: codeMatch})
	return re, nil
}

// resolve replaces named references by numbers.
func (p *parser) resolve(n *node) error {
	if n.op == opBackref && n.name != "" {
		group, ok := p.names[n.name]
		if !ok {
			return errNamedMissing
		}
		n.group = group
	}
	for _, child := range n.children {
		if err := p.resolve(child); err != nil {
			return err
		}
	}
	return nil
}

// canonical implements the specification's Canonicalize. It returns the upper case, unless that would turn a
// character outside ASCII into an ASCII character.
func canonical(u uint16) uint16 {
	if u < 0x80 {
		if u >= 'a' && u <= 'z' {
			return u - 'a' + 'A'
		}
		return u
	}
	upper := unicode.ToUpper(rune(u))
	if upper < 0x80 || upper > 0xFFFF || u == 0xDF {
		return u
	}
	return uint16(upper)
}

// hasFolded reports whether a class contains a character that equals u when case is ignored.
func (s *set) hasFolded(u uint16) bool {
	want := canonical(u)
	if s.has(want) {
		return true
	}
	for r := unicode.SimpleFold(rune(u)); r != rune(u); r = unicode.SimpleFold(r) {
		if r <= 0xFFFF && canonical(uint16(r)) == want && s.has(uint16(r)) {
			return true
		}
	}
	return false
}
