package ecma

// Match finds the first match at or after start. It returns a pair of offsets for the whole match and then for each
// group, or nil if there is no match. The pair is -1, -1 for a group that took no part. The work is subtracted from
// steps. If steps runs out, or the match needs too much memory, the error is ErrSteps.
func (re *Regexp) Match(text []uint16, start int, steps *int) ([]int, error) {
	m := &matcher{re: re, text: text, registers: make([]int, re.program.registers), steps: steps}
	for at := start; at <= len(text); at++ {
		for i := range m.registers {
			m.registers[i] = -1
		}
		end, ok := m.run(0, at)
		if m.spent {
			return nil, ErrSteps
		}
		if ok {
			m.registers[0], m.registers[1] = at, end
			return m.registers[:2*(re.groups+1)], nil
		}
		m.undo = m.undo[:0]
	}
	return nil, nil
}

// matcher holds the state of one match. It keeps the alternatives to try after a failure on a separate stack, so
// that neither pattern nor text can exhaust the goroutine's stack.
type matcher struct {
	re        *Regexp
	text      []uint16
	registers []int
	undo      []entry
	steps     *int
	spent     bool
}

// entry is an action to take after a failure.
type entry struct {
	// at is the instruction to continue at. If it is -1, the entry restores the register with number pos to value
	// instead.
	at, pos, value int32
	// run is true if the entry stands for a run of code units, which backtracking may shorten. pos is the end of
	// the run, and value is the smallest end.
	run bool
}

const restore = -1

// maxEntries limits the memory of a match to about 64 MB.
const maxEntries = 4 << 20

// run matches from an instruction on, and returns the position at which the match ends. On success it keeps the
// entries that it added to the stack. On failure the state is unchanged.
func (m *matcher) run(at, pos int) (int, bool) {
	base := len(m.undo)
	for {
		*m.steps--
		if *m.steps < 0 || len(m.undo) > maxEntries {
			m.spent = true
		}
		if m.spent {
			return 0, false
		}
		i := &m.re.program.code[at]
		if i.code == codeMatch {
			return pos, true
		}
		next, end, ok := m.execute(i, at, pos)
		if ok {
			at, pos = next, end
			continue
		}
		if at, pos, ok = m.backtrack(base); !ok {
			return 0, false
		}
	}
}

// execute executes one instruction. It returns the next instruction and the new position; ok is false on failure.
func (m *matcher) execute(i *instruction, at, pos int) (next, end int, ok bool) {
	switch i.code {
	case codeUnit:
		end, ok = m.unit(i, pos)
		return at + 1, end, ok
	case codeRun:
		end, ok = m.consume(i.node, at, pos)
		return at + 1, end, ok
	case codeSplit:
		m.push(i.other, pos)
		return i.next, pos, true
	case codeJump:
		return i.next, pos, true
	case codeSave:
		m.set(i.register, pos)
		return at + 1, pos, true
	case codeBackref:
		end, ok = m.backreference(i, pos)
		return at + 1, end, ok
	case codeLook:
		return i.next, pos, m.look(i, at, pos)
	case codeLoopInit:
		m.set(i.register, 0)
		m.set(i.register+1, -1)
		return at + 1, pos, true
	case codeLoop:
		next, ok = m.loop(i, at, pos)
		return next, pos, ok
	case codeLoopEnter:
		m.enter(i, pos)
		return at + 1, pos, true
	default:
		return at + 1, pos, m.assert(i.node.op, pos)
	}
}

func (m *matcher) push(at, pos int) { m.undo = append(m.undo, entry{at: int32(at), pos: int32(pos)}) }

// set changes a register; backtracking restores it.
func (m *matcher) set(register, v int) {
	m.undo = append(m.undo, entry{at: restore, pos: int32(register), value: int32(m.registers[register])})
	m.registers[register] = v
}

// backtrack undoes everything since the last choice above base. It returns the instruction and the position at
// which to continue; ok is false if there is no such choice.
func (m *matcher) backtrack(base int) (at, pos int, ok bool) {
	for len(m.undo) > base {
		top := &m.undo[len(m.undo)-1]
		switch {
		case top.at == restore:
			m.registers[top.pos] = int(top.value)
		case top.run && top.pos > top.value+1:
			top.pos--
			return int(top.at), int(top.pos), true
		case top.run:
			at, pos = int(top.at), int(top.value)
			m.undo = m.undo[:len(m.undo)-1]
			return at, pos, true
		default:
			at, pos = int(top.at), int(top.pos)
			m.undo = m.undo[:len(m.undo)-1]
			return at, pos, true
		}
		m.undo = m.undo[:len(m.undo)-1]
	}
	return 0, 0, false
}

func (m *matcher) unit(i *instruction, pos int) (int, bool) {
	if i.back {
		return pos - 1, pos > 0 && m.accepts(i.node, m.text[pos-1])
	}
	return pos + 1, pos < len(m.text) && m.accepts(i.node, m.text[pos])
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

// consume takes as many code units as a repetition allows. Backtracking releases them one by one.
func (m *matcher) consume(n *node, at, pos int) (int, bool) {
	child := n.children[0]
	most := len(m.text) - pos
	if n.max < most {
		most = n.max
	}
	count := 0
	for count < most && m.accepts(child, m.text[pos+count]) {
		count++
	}
	*m.steps -= count / 8
	if count < n.min {
		return 0, false
	}
	if count > n.min {
		m.undo = append(m.undo, entry{at: int32(at + 1), pos: int32(pos + count), value: int32(pos + n.min), run: true})
	}
	return pos + count, true
}

// loop decides whether to repeat once more. The registers hold the number of iterations and the start of the last
// one.
func (m *matcher) loop(i *instruction, at, pos int) (int, bool) {
	n, count := i.node, m.registers[i.register]
	switch {
	case count > n.min && pos == m.registers[i.register+1]:
		return 0, false // an iteration beyond the minimum must not be empty
	case count >= n.max:
		return i.next, true
	case count < n.min:
		return at + 1, true
	case n.lazy:
		m.push(at+1, pos)
		return i.next, true
	default:
		m.push(i.next, pos)
		return at + 1, true
	}
}

// enter begins an iteration and clears the captures of the groups inside.
func (m *matcher) enter(i *instruction, pos int) {
	m.set(i.register, m.registers[i.register]+1)
	m.set(i.register+1, pos)
	for r := 2 * i.node.firstGroup; r <= 2*i.node.lastGroup+1; r++ {
		if m.registers[r] != -1 {
			m.set(r, -1)
		}
	}
}

func (m *matcher) backreference(i *instruction, pos int) (int, bool) {
	from, to := m.registers[2*i.node.group], m.registers[2*i.node.group+1]
	if from < 0 || to < 0 {
		return pos, true
	}
	length := to - from
	start, end := pos, pos+length
	if i.back {
		start, end = pos-length, pos-length
	}
	if start < 0 || start+length > len(m.text) {
		return 0, false
	}
	*m.steps -= length / 8
	for o := range length {
		a, b := m.text[from+o], m.text[start+o]
		if a != b && (!m.re.ignoreCase || canonical(a) != canonical(b)) {
			return 0, false
		}
	}
	return end, true
}

// look tries a look-around, which nests no deeper than the pattern. It keeps the captures, but discards other ways
// to match.
func (m *matcher) look(i *instruction, at, pos int) bool {
	base := len(m.undo)
	_, found := m.run(at+1, pos)
	if m.spent || !found {
		return i.node.negated && !m.spent
	}
	kept := base
	for j := base; j < len(m.undo); j++ {
		if m.undo[j].at == restore {
			m.undo[kept] = m.undo[j]
			kept++
		}
	}
	m.undo = m.undo[:kept]
	if i.node.negated {
		m.backtrack(base)
	}
	return !i.node.negated
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
