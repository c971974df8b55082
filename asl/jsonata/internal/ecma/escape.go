package ecma

// escape parses the part of an escape after the backslash, outside of a class.
func (p *parser) escape() (*node, bool, error) {
	if !p.more() {
		return nil, false, errBackslash
	}
	c := p.peek(0)
	switch {
	case c == 'b':
		p.at++
		return &node{op: opBoundary}, false, nil
	case c == 'B':
		p.at++
		return &node{op: opNotBoundary}, false, nil
	case c == 'k' && p.named:
		p.at++
		return p.namedReference()
	case c >= '1' && c <= '9':
		start := p.at
		if n, _ := p.decimal(); n <= p.total {
			return &node{op: opBackref, group: n}, true, nil
		}
		p.at = start
	}
	if s := shorthand(c); s != nil {
		p.at++
		return &node{op: opSet, set: s}, true, nil
	}
	return &node{op: opChar, unit: p.character()}, true, nil
}

func (p *parser) namedReference() (*node, bool, error) {
	if !p.accept("<") {
		return nil, false, errNamed
	}
	name, ok := p.groupName()
	if !ok {
		return nil, false, errNamed
	}
	return &node{op: opBackref, name: name}, true, nil
}

// character parses the rest of an escape for one code unit.
func (p *parser) character() uint16 {
	c := p.peek(0)
	p.at++
	switch c {
	case 't':
		return '\t'
	case 'n':
		return '\n'
	case 'v':
		return '\v'
	case 'f':
		return '\f'
	case 'r':
		return '\r'
	case 'c':
		if l := p.peek(0) | 0x20; l >= 'a' && l <= 'z' {
			p.at++
			return l & 31
		}
		p.at--
		return '\\'
	case 'x':
		return p.hex(2, c)
	case 'u':
		return p.hex(4, c)
	}
	if c >= '0' && c <= '7' {
		p.at--
		return p.octal()
	}
	return c
}

// hex parses exactly n hexadecimal digits. If there are fewer, the letter of the escape represents itself.
func (p *parser) hex(n int, letter uint16) uint16 {
	var v uint16
	for i := range n {
		c := p.peek(i)
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return letter
		}
		v = v<<4 | c
	}
	p.at += n
	return v
}

// octal parses a legacy octal escape, up to \377.
func (p *parser) octal() uint16 {
	v, n := uint16(0), 0
	for n < 3 && p.peek(0) >= '0' && p.peek(0) <= '7' && p.more() && v*8+p.peek(0)-'0' <= 0o377 {
		v = v*8 + p.peek(0) - '0'
		p.at++
		n++
	}
	return v
}

// class parses a class after its opening bracket.
func (p *parser) class() (*node, error) {
	s := &set{negated: p.accept("^")}
	for {
		if !p.more() {
			return nil, errClass
		}
		if p.accept("]") {
			return &node{op: opSet, set: s}, nil
		}
		low, class, err := p.classAtom()
		if err != nil {
			return nil, err
		}
		if p.peek(0) != '-' || p.peek(1) == ']' || p.at+1 >= len(p.in) {
			s.addAtom(low, class)
			continue
		}
		p.at++
		high, highClass, err := p.classAtom()
		if err != nil {
			return nil, err
		}
		if class != nil || highClass != nil {
			s.addAtom(low, class)
			s.add('-', '-')
			s.addAtom(high, highClass)
			continue
		}
		if low > high {
			return nil, errClassOrder
		}
		s.add(low, high)
	}
}

func (s *set) addAtom(unit uint16, class *set) {
	if class != nil {
		s.addAll(class)
		return
	}
	s.add(unit, unit)
}

func (p *parser) classAtom() (uint16, *set, error) {
	if !p.more() {
		return 0, nil, errClass
	}
	c := p.peek(0)
	p.at++
	if c != '\\' {
		return c, nil, nil
	}
	if !p.more() {
		return 0, nil, errBackslash
	}
	c = p.peek(0)
	if s := shorthand(c); s != nil {
		p.at++
		return 0, s, nil
	}
	if c == 'b' {
		p.at++
		return '\b', nil, nil
	}
	return p.character(), nil, nil
}
