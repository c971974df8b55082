package ecma

// code is the operation of an instruction.
type code uint8

const (
	codeMatch     code = iota // the end of the pattern or of a look-around
	codeUnit                  // one code unit that node accepts
	codeRun                   // node repeats one code unit: consume as many as it accepts
	codeSplit                 // continue at next; on failure at other
	codeJump                  // continue at next
	codeSave                  // store the position in a register
	codeBackref               // match the text captured by a group
	codeAssert                // ^ $ \b \B
	codeLook                  // the look-around that begins behind this instruction and ends before next
	codeLoopInit              // begin to count a repetition
	codeLoop                  // decide whether to repeat once more
	codeLoopEnter             // begin an iteration
)

type instruction struct {
	code        code
	back        bool // the text is read backwards
	node        *node
	next, other int
	register    int
}

// program is a pattern compiled to instructions for the matcher.
type program struct {
	code []instruction
	// registers is the number of registers: two for each capture, and two for each counted repetition.
	registers int
}

func (p *program) emit(i instruction) int {
	p.code = append(p.code, i)
	return len(p.code) - 1
}

// compile appends the instructions of a node.
func (p *program) compile(n *node, back bool) {
	switch n.op {
	case opEmpty:
	case opChar, opAny, opSet:
		p.emit(instruction{code: codeUnit, node: n, back: back})
	case opSeq:
		for i := range n.children {
			if back {
				i = len(n.children) - 1 - i
			}
			p.compile(n.children[i], back)
		}
	case opAlt:
		p.alternatives(n, back)
	case opGroup:
		first, last := 2*n.group, 2*n.group+1
		if back {
			first, last = last, first
		}
		p.emit(instruction{code: codeSave, register: first})
		p.compile(n.children[0], back)
		p.emit(instruction{code: codeSave, register: last})
	case opRepeat:
		p.repetition(n, back)
	case opBackref:
		p.emit(instruction{code: codeBackref, node: n, back: back})
	case opLookahead, opLookbehind:
		look := p.emit(instruction{code: codeLook, node: n})
		p.compile(n.children[0], n.op == opLookbehind)
		p.emit(instruction{code: codeMatch})
		p.code[look].next = len(p.code)
	default:
		p.emit(instruction{code: codeAssert, node: n})
	}
}

func (p *program) alternatives(n *node, back bool) {
	var jumps []int
	for i, child := range n.children {
		if i == len(n.children)-1 {
			p.compile(child, back)
			break
		}
		split := p.emit(instruction{code: codeSplit})
		p.code[split].next = len(p.code)
		p.compile(child, back)
		jumps = append(jumps, p.emit(instruction{code: codeJump}))
		p.code[split].other = len(p.code)
	}
	for _, jump := range jumps {
		p.code[jump].next = len(p.code)
	}
}

func (p *program) repetition(n *node, back bool) {
	if child := n.children[0].op; !back && !n.lazy && (child == opChar || child == opAny || child == opSet) {
		p.emit(instruction{code: codeRun, node: n})
		return
	}
	register := p.registers
	p.registers += 2
	p.emit(instruction{code: codeLoopInit, register: register})
	loop := p.emit(instruction{code: codeLoop, node: n, register: register})
	p.emit(instruction{code: codeLoopEnter, node: n, register: register})
	p.compile(n.children[0], back)
	p.emit(instruction{code: codeJump, next: loop})
	p.code[loop].next = len(p.code)
}
