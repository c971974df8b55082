package ecma

import (
	"errors"
	"unicode"
)

// ErrSteps is returned when a match takes more steps than allowed.
var ErrSteps = errors.New("the regular expression takes too long")

// Regexp is a compiled pattern, safe for concurrent use.
type Regexp struct {
	root                  *node
	groups                int
	ignoreCase, multiline bool
}

// Compile reads a pattern. Errors carry V8's texts.
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
	return &Regexp{root: root, groups: p.groups, ignoreCase: ignoreCase, multiline: multiline}, nil
}

// resolve turns named references into numbers.
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

// Match finds the first match at or after start. It returns pairs of offsets, the whole match first and then each group (-1,
// -1 for one that took no part), or nil. steps is charged for the work and must not run out.
func (re *Regexp) Match(text []uint16, start int, steps *int) ([]int, error) {
	m := &matcher{re: re, text: text, captures: make([]int, 2*(re.groups+1)), steps: steps}
	for at := start; at <= len(text); at++ {
		for i := range m.captures {
			m.captures[i] = -1
		}
		end := -1
		if m.match(re.root, at, false, func(i int) bool { end = i; return true }) {
			m.captures[0], m.captures[1] = at, end
			return m.captures, nil
		}
		if m.spent {
			return nil, ErrSteps
		}
	}
	return nil, nil
}

// matcher is the state of one match.
type matcher struct {
	re       *Regexp
	text     []uint16
	captures []int
	steps    *int
	depth    int
	spent    bool
}

// maxDepth bounds the recursion, and with it the memory, of one match.
const maxDepth = 1_000_000

// match tries node n at offset i, forward or backward, and then k at where it ends. Everything it has captured is undone when
// it fails.
func (m *matcher) match(n *node, i int, back bool, k func(int) bool) bool {
	*m.steps--
	m.depth++
	defer func() { m.depth-- }()
	if *m.steps < 0 || m.depth > maxDepth || m.spent {
		m.spent = true
		return false
	}
	switch n.op {
	case opEmpty:
		return k(i)
	case opChar, opAny, opSet:
		return m.one(n, i, back, k)
	case opSeq:
		return m.sequence(n.children, i, back, k)
	case opAlt:
		for _, child := range n.children {
			if m.match(child, i, back, k) {
				return true
			}
		}
		return false
	case opGroup:
		return m.group(n, i, back, k)
	case opRepeat:
		return m.repeat(n, i, 0, -1, back, k)
	case opBackref:
		return m.backreference(n, i, back, k)
	case opLookahead, opLookbehind:
		return m.look(n, i, k)
	default:
		return m.assert(n.op, i) && k(i)
	}
}

func (m *matcher) one(n *node, i int, back bool, k func(int) bool) bool {
	at, next := i, i+1
	if back {
		at, next = i-1, i-1
	}
	return at >= 0 && at < len(m.text) && m.accepts(n, m.text[at]) && k(next)
}

func (m *matcher) accepts(n *node, u uint16) bool {
	switch n.op {
	case opChar:
		return u == n.unit || m.re.ignoreCase && canonical(u) == canonical(n.unit)
	case opAny:
		return !isLineTerminator(u)
	default:
		in := n.set.has(u) || m.re.ignoreCase && n.set.hasFolded(u)
		return in != n.set.negated
	}
}

func (m *matcher) sequence(children []*node, i int, back bool, k func(int) bool) bool {
	if len(children) == 0 {
		return k(i)
	}
	first, rest := children[0], children[1:]
	if back {
		first, rest = children[len(children)-1], children[:len(children)-1]
	}
	return m.match(first, i, back, func(j int) bool { return m.sequence(rest, j, back, k) })
}

func (m *matcher) group(n *node, i int, back bool, k func(int) bool) bool {
	return m.match(n.children[0], i, back, func(j int) bool {
		slot := 2 * n.group
		from, to := m.captures[slot], m.captures[slot+1]
		m.captures[slot], m.captures[slot+1] = min(i, j), max(i, j)
		if k(j) {
			return true
		}
		m.captures[slot], m.captures[slot+1] = from, to
		return false
	})
}

// repeat has matched count times, the last time from offset last on.
func (m *matcher) repeat(n *node, i, count, last int, back bool, k func(int) bool) bool {
	if count > n.min && i == last {
		return false // an iteration beyond the minimum must not be empty
	}
	if m.simple(n) && !back {
		return m.repeatOne(n, i, k)
	}
	if count >= n.max {
		return k(i)
	}
	again := func() bool {
		saved := m.clear(n)
		if m.match(n.children[0], i, back, func(j int) bool { return m.repeat(n, j, count+1, i, back, k) }) {
			return true
		}
		m.restore(n, saved)
		return false
	}
	if count < n.min {
		return again()
	}
	if n.lazy {
		return k(i) || again()
	}
	return again() || k(i)
}

// simple reports whether a repeated node always takes exactly one code unit and captures nothing.
func (m *matcher) simple(n *node) bool {
	switch n.children[0].op {
	case opChar, opAny, opSet:
		return true
	default:
		return false
	}
}

// repeatOne repeats a single-unit node without recursion.
func (m *matcher) repeatOne(n *node, i int, k func(int) bool) bool {
	child := n.children[0]
	limit := len(m.text) - i
	if n.max < limit {
		limit = n.max
	}
	count := 0
	matches := func() bool { return count < limit && m.accepts(child, m.text[i+count]) }
	for count < n.min {
		if !matches() {
			return false
		}
		count++
	}
	if n.lazy {
		for {
			if k(i + count) {
				return true
			}
			if m.spent || !matches() {
				return false
			}
			count++
		}
	}
	for matches() {
		count++
	}
	*m.steps -= count
	for ; count >= n.min && !m.spent; count-- {
		if k(i + count) {
			return true
		}
	}
	return false
}

// clear forgets what the groups inside of a repeated node have captured.
func (m *matcher) clear(n *node) []int {
	if n.firstGroup > n.lastGroup {
		return nil
	}
	inside := m.captures[2*n.firstGroup : 2*n.lastGroup+2]
	saved := append([]int(nil), inside...)
	for i := range inside {
		inside[i] = -1
	}
	return saved
}

func (m *matcher) restore(n *node, saved []int) {
	if saved != nil {
		copy(m.captures[2*n.firstGroup:], saved)
	}
}

func (m *matcher) backreference(n *node, i int, back bool, k func(int) bool) bool {
	from, to := m.captures[2*n.group], m.captures[2*n.group+1]
	if from < 0 || to < 0 {
		return k(i)
	}
	length := to - from
	at, next := i, i+length
	if back {
		at, next = i-length, i-length
	}
	if at < 0 || at+length > len(m.text) {
		return false
	}
	for o := range length {
		a, b := m.text[from+o], m.text[at+o]
		if a != b && (!m.re.ignoreCase || canonical(a) != canonical(b)) {
			return false
		}
	}
	return k(next)
}

func (m *matcher) look(n *node, i int, k func(int) bool) bool {
	saved := append([]int(nil), m.captures...)
	found := m.match(n.children[0], i, n.op == opLookbehind, func(int) bool { return true })
	if found == n.negated || m.spent {
		copy(m.captures, saved)
		return false
	}
	if n.negated {
		copy(m.captures, saved)
	}
	if k(i) {
		return true
	}
	copy(m.captures, saved)
	return false
}

func (m *matcher) assert(o op, i int) bool {
	switch o {
	case opStart:
		return i == 0 || m.re.multiline && isLineTerminator(m.text[i-1])
	case opEnd:
		return i == len(m.text) || m.re.multiline && isLineTerminator(m.text[i])
	default:
		boundary := m.wordAt(i-1) != m.wordAt(i)
		return boundary == (o == opBoundary)
	}
}

func (m *matcher) wordAt(i int) bool { return i >= 0 && i < len(m.text) && words.has(m.text[i]) }

// canonical is the specification's Canonicalize: upper case, unless that turns a character outside of ASCII into one inside.
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

// hasFolded reports whether a class holds a character that equals u when case is ignored.
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
