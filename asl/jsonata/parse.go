package jsonata

// maxNesting limits the nesting of an expression, and with it the recursion of the parser and of analysis.
const maxNesting = 1000

// maxChain limits how many operators may follow each other at one level.
const maxChain = 20_000

// bindingPowers holds the left binding powers of the operators. Operators that are not listed bind nothing to their
// left.
var bindingPowers = map[string]int{
	".": 75, "[": 80, "{": 70, "(": 80, "@": 80, "#": 80, "?": 20, "+": 50, "-": 50, "*": 60, "/": 60, "%": 60, "=": 40,
	"<": 40,
	">": 40, "^": 40, ":=": 10, "!=": 40, "<=": 40, ">=": 40, "~>": 40, "and": 30, "or": 25, "in": 40, "&": 50,
}

// parser is a top-down operator precedence parser with one token of look-ahead.
type parser struct {
	lexer lexer
	token token
	depth int
	chain int
}

// parse reads a whole expression.
func parse(source string) (*node, *Error) {
	p := &parser{lexer: lexer{source: source}}
	if err := p.advance(false); err != nil {
		return nil, err
	}
	n, err := p.expression(0)
	if err != nil {
		return nil, err
	}
	if p.token.kind != endToken {
		return nil, p.unexpected("S0201")
	}
	return n, nil
}

func (p *parser) unexpected(code string) *Error {
	err := &Error{Code: code, Position: p.token.position}
	err.token = p.token.value()
	return err
}

// advance reads the next token.
func (p *parser) advance(infix bool) *Error {
	t, err := p.lexer.next(infix)
	if err != nil {
		return err
	}
	if t.kind == endToken {
		t.position = len(p.lexer.source)
	}
	p.token = t
	if t.kind == operatorToken && (t.text == "!" || t.text == "~") {
		return p.unexpected("S0204")
	}
	return nil
}

// expect consumes an operator that must come next.
func (p *parser) expect(operator string, infix bool) *Error {
	if p.at(operator) {
		return p.advance(infix)
	}
	code := "S0202"
	if p.token.kind == endToken {
		code = "S0203"
	}
	err := p.unexpected(code)
	err.value = operator
	return err
}

func (p *parser) at(operator string) bool {
	return p.token.kind == operatorToken && p.token.text == operator
}

// expression parses operands and operators that bind tighter than power.
func (p *parser) expression(power int) (*node, *Error) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxNesting {
		return nil, tooDeep()
	}
	t := p.token
	if err := p.advance(true); err != nil {
		return nil, err
	}
	left, err := p.prefix(t)
	if err != nil {
		return nil, err
	}
	for p.token.kind == operatorToken && power < bindingPowers[p.token.text] {
		if p.chain++; p.chain > maxChain {
			return nil, tooDeep()
		}
		t = p.token
		if err := p.advance(false); err != nil {
			return nil, err
		}
		if left, err = p.infix(t, left); err != nil {
			return nil, err
		}
	}
	return left, nil
}

// prefix reads an operand that begins with token t.
func (p *parser) prefix(t token) (*node, *Error) {
	n := &node{text: t.text, literal: t.literal, regex: t.regex, position: t.position}
	switch t.kind {
	case endToken:
		return n, nil
	case nameToken:
		n.kind = nameNode
	case variableToken:
		n.kind = variableNode
	case stringToken:
		n.kind = stringNode
	case numberToken:
		n.kind = numberNode
	case valueToken:
		n.kind = valueNode
	case regexToken:
		n.kind = regexNode
	default:
		return p.prefixOperator(n)
	}
	return n, nil
}

func (p *parser) prefixOperator(n *node) (*node, *Error) {
	switch n.text {
	case "and", "or", "in":
		n.kind = operatorNode
		return n, nil
	case "*":
		n.kind = wildcardNode
		return n, nil
	case "**":
		n.kind = descendantNode
		return n, nil
	case "%":
		n.kind = parentNode
		return n, nil
	case "-":
		n.kind = unaryNode
		var err *Error
		n.lhs, err = p.expression(70)
		return n, err
	case "(":
		return p.block(n)
	case "[":
		return p.arrayConstructor(n)
	case "{":
		n.kind = unaryNode
		return p.objectPairs(n)
	case "|":
		return p.transform(n)
	default:
		err := &Error{Code: "S0211", Position: n.position}
		err.setToken(n.text)
		return nil, err
	}
}

// infix parses the rest of an operation with operator t and left operand left.
func (p *parser) infix(t token, left *node) (*node, *Error) {
	n := &node{kind: binaryNode, text: t.text, position: t.position, lhs: left}
	var err *Error
	switch t.text {
	case "(":
		return p.call(n)
	case "[":
		return p.predicate(n)
	case "^":
		return p.orderBy(n)
	case "{":
		return p.objectPairs(n)
	case ":=":
		if left.kind != variableNode {
			return nil, notVariable("S0212", left.position, left.value())
		}
		n.rhs, err = p.expression(bindingPowers[":="] - 1)
		return n, err
	case "@", "#":
		if n.rhs, err = p.expression(bindingPowers[t.text]); err == nil && n.rhs.kind != variableNode {
			err = notVariable("S0214", n.rhs.position, t.text)
		}
		return n, err
	case "?":
		return p.conditional(n)
	default:
		n.rhs, err = p.expression(bindingPowers[t.text])
		return n, err
	}
}

func notVariable(code string, position int, token value) *Error {
	return &Error{Code: code, Position: position, token: token}
}

func tooDeep() *Error {
	return &Error{Code: "U1001", Message: "Stack overflow error: the expression is nested too deeply"}
}
