package ecma

// syntaxError is the reason for rejecting a pattern, in V8's words.
type syntaxError string

func (e syntaxError) Error() string { return string(e) }

const (
	errGroup        = syntaxError("Invalid group")
	errUnterminated = syntaxError("Unterminated group")
	errUnmatched    = syntaxError("Unmatched ')'")
	errNothing      = syntaxError("Nothing to repeat")
	errOrder        = syntaxError("numbers out of order in {} quantifier")
	errQuantifier   = syntaxError("Invalid quantifier")
	errClassOrder   = syntaxError("Range out of order in character class")
	errClass        = syntaxError("Unterminated character class")
	errBackslash    = syntaxError(`\ at end of pattern`)
	errName         = syntaxError("Invalid capture group name")
	errDuplicate    = syntaxError("Duplicate capture group name")
	errNamed        = syntaxError("Invalid named reference")
	errNamedMissing = syntaxError("Invalid named capture referenced")
	errLarge        = syntaxError("Regular expression too large")
)

// maxNesting limits the nesting of groups.
const maxNesting = 500

type parser struct {
	in     []uint16
	at     int
	groups int // opened so far
	total  int // in the whole pattern
	named  bool
	names  map[string]int
	depth  int
}

func (p *parser) more() bool { return p.at < len(p.in) }

func (p *parser) peek(offset int) uint16 {
	if p.at+offset < len(p.in) {
		return p.in[p.at+offset]
	}
	return 0
}

func (p *parser) accept(text string) bool {
	for i := range len(text) {
		if p.at+i >= len(p.in) || p.in[p.at+i] != uint16(text[i]) {
			return false
		}
	}
	p.at += len(text)
	return true
}

// count counts the capturing groups before parsing, because backreferences may refer to later groups.
func (p *parser) count() {
	class := false
	for i := 0; i < len(p.in); i++ {
		switch c := p.in[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '(' && !class:
			p.countGroup(i)
		}
	}
}

func (p *parser) countGroup(i int) {
	at := func(offset int) uint16 {
		if i+offset < len(p.in) {
			return p.in[i+offset]
		}
		return 0
	}
	if at(1) != '?' {
		p.total++
	} else if at(2) == '<' && at(3) != '=' && at(3) != '!' {
		p.total++
		p.named = true
	}
}

func (p *parser) alternatives() (*node, error) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxNesting {
		return nil, errLarge
	}
	alt := &node{op: opAlt}
	for {
		seq, err := p.sequence()
		if err != nil {
			return nil, err
		}
		alt.children = append(alt.children, seq)
		if !p.accept("|") {
			break
		}
	}
	if len(alt.children) == 1 {
		return alt.children[0], nil
	}
	return alt, nil
}

func (p *parser) sequence() (*node, error) {
	seq := &node{op: opSeq}
	for p.more() && p.peek(0) != '|' && p.peek(0) != ')' {
		first := p.groups
		n, quantifiable, err := p.term()
		if err != nil {
			return nil, err
		}
		if n, err = p.quantified(n, quantifiable, first); err != nil {
			return nil, err
		}
		seq.children = append(seq.children, n)
	}
	if len(seq.children) == 1 {
		return seq.children[0], nil
	}
	return seq, nil
}

// term parses one assertion or atom; quantifiable reports whether a quantifier may follow.
func (p *parser) term() (*node, bool, error) {
	c := p.peek(0)
	switch c {
	case '^':
		p.at++
		return &node{op: opStart}, false, nil
	case '$':
		p.at++
		return &node{op: opEnd}, false, nil
	case '(':
		p.at++
		return p.group()
	case '.':
		p.at++
		return &node{op: opAny}, true, nil
	case '[':
		p.at++
		n, err := p.class()
		return n, true, err
	case '\\':
		p.at++
		return p.escape()
	case '*', '+', '?':
		return nil, false, errNothing
	case '{':
		if _, _, ok := p.braces(); ok {
			return nil, false, errNothing
		}
	}
	p.at++
	return &node{op: opChar, unit: c}, true, nil
}

func (p *parser) group() (*node, bool, error) {
	switch {
	case p.accept("?:"):
		n, err := p.closed()
		return n, true, err
	case p.accept("?="), p.accept("?!"):
		negated := p.in[p.at-1] == '!'
		n, err := p.closed()
		return &node{op: opLookahead, negated: negated, children: []*node{n}}, true, err
	case p.accept("?<="), p.accept("?<!"):
		negated := p.in[p.at-1] == '!'
		n, err := p.closed()
		return &node{op: opLookbehind, negated: negated, children: []*node{n}}, false, err
	}
	p.groups++
	index := p.groups
	if p.accept("?<") {
		name, ok := p.groupName()
		if !ok {
			return nil, false, errName
		}
		if _, taken := p.names[name]; taken {
			return nil, false, errDuplicate
		}
		p.names[name] = index
	} else if p.peek(0) == '?' {
		return nil, false, errGroup
	}
	n, err := p.closed()
	return &node{op: opGroup, group: index, children: []*node{n}}, true, err
}

// closed reads alternatives up to the closing parenthesis.
func (p *parser) closed() (*node, error) {
	n, err := p.alternatives()
	if err != nil {
		return nil, err
	}
	if !p.accept(")") {
		return nil, errUnterminated
	}
	return n, nil
}

// groupName reads a name and its closing angle bracket.
func (p *parser) groupName() (string, bool) {
	var name []rune
	for p.more() {
		c := p.peek(0)
		p.at++
		switch {
		case c == '>':
			return string(name), len(name) > 0
		case c == '$' || words.has(c) && (len(name) > 0 || !digits.has(c)) || c >= 0x80:
			name = append(name, rune(c))
		default:
			return "", false
		}
	}
	return "", false
}

func (p *parser) quantified(n *node, quantifiable bool, firstGroup int) (*node, error) {
	var low, high int
	switch p.peek(0) {
	case '*':
		low, high = 0, unbounded
		p.at++
	case '+':
		low, high = 1, unbounded
		p.at++
	case '?':
		low, high = 0, 1
		p.at++
	case '{':
		l, h, ok := p.braces()
		if !ok {
			return n, nil
		}
		low, high = l, h
	default:
		return n, nil
	}
	if n.op == opLookbehind {
		return nil, errQuantifier
	}
	if !quantifiable {
		return nil, errNothing
	}
	if low > high {
		return nil, errOrder
	}
	return &node{
		op: opRepeat, min: low, max: high, lazy: p.accept("?"), children: []*node{n}, firstGroup: firstGroup + 1,
		lastGroup: p.groups,
	}, nil
}

// braces reads {n}, {n,} or {n,m}; anything else is not a quantifier and stays unread.
func (p *parser) braces() (low, high int, ok bool) {
	start := p.at
	p.at++
	low, ok = p.decimal()
	high = low
	if ok && p.accept(",") {
		if high, ok = p.decimal(); !ok {
			high, ok = unbounded, true
		}
	}
	if !ok || !p.accept("}") {
		p.at = start
		return 0, 0, false
	}
	return low, high, true
}

// maxDecimal keeps counts far from overflow; no text is that long.
const maxDecimal = 1 << 40

func (p *parser) decimal() (int, bool) {
	start, n := p.at, 0
	for p.more() && digits.has(p.peek(0)) {
		n = min(n*10+int(p.peek(0)-'0'), maxDecimal)
		p.at++
	}
	return n, p.at > start
}
