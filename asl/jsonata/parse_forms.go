package jsonata

import "strings"

// block reads ( expression ; expression … ).
func (p *parser) block(n *node) (*node, *Error) {
	n.kind = blockNode
	for !p.at(")") {
		child, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, child)
		if !p.at(";") {
			break
		}
		if err := p.advance(false); err != nil {
			return nil, err
		}
	}
	return n, p.expect(")", true)
}

// arrayConstructor reads [ item, from..to … ].
func (p *parser) arrayConstructor(n *node) (*node, *Error) {
	n.kind = unaryNode
	if p.at("]") {
		return n, p.advance(true)
	}
	for {
		item, err := p.arrayItem()
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, item)
		if !p.at(",") {
			return n, p.expect("]", true)
		}
		if err := p.advance(false); err != nil {
			return nil, err
		}
	}
}

func (p *parser) arrayItem() (*node, *Error) {
	item, err := p.expression(0)
	if err != nil || !p.at("..") {
		return item, err
	}
	r := &node{kind: binaryNode, text: "..", position: p.token.position, lhs: item}
	if err := p.advance(false); err != nil {
		return nil, err
	}
	r.rhs, err = p.expression(0)
	return r, err
}

// objectPairs reads the rest of { key: value … }, a constructor or, with a left operand, a grouping.
func (p *parser) objectPairs(n *node) (*node, *Error) {
	if p.at("}") {
		return n, p.advance(true)
	}
	for {
		key, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		if err := p.expect(":", false); err != nil {
			return nil, err
		}
		member, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		n.pairs = append(n.pairs, [2]*node{key, member})
		if !p.at(",") {
			return n, p.expect("}", true)
		}
		if err := p.advance(false); err != nil {
			return nil, err
		}
	}
}

// transform reads | pattern | update , delete |.
func (p *parser) transform(n *node) (*node, *Error) {
	n.kind = transformNode
	var err *Error
	if n.pattern, err = p.expression(0); err != nil {
		return nil, err
	}
	if err := p.expect("|", false); err != nil {
		return nil, err
	}
	if n.update, err = p.expression(0); err != nil {
		return nil, err
	}
	if p.at(",") {
		if err := p.advance(false); err != nil {
			return nil, err
		}
		if n.remove, err = p.expression(0); err != nil {
			return nil, err
		}
	}
	return n, p.expect("|", false)
}

// conditional reads the rest of condition ? then : otherwise.
func (p *parser) conditional(n *node) (*node, *Error) {
	n.kind = conditionNode
	n.condition, n.lhs = n.lhs, nil
	var err *Error
	if n.then, err = p.expression(0); err != nil || !p.at(":") {
		return n, err
	}
	if err := p.advance(false); err != nil {
		return nil, err
	}
	n.otherwise, err = p.expression(0)
	return n, err
}

// predicate reads the rest of step[filter] or step[]. The latter keeps the result an array.
func (p *parser) predicate(n *node) (*node, *Error) {
	if p.at("]") {
		step := n.lhs
		for step.kind == binaryNode && step.text == "[" {
			step = step.lhs
		}
		step.keepArray = true
		return n.lhs, p.advance(false)
	}
	var err *Error
	if n.rhs, err = p.expression(0); err != nil {
		return nil, err
	}
	return n, p.expect("]", true)
}

// orderBy reads the rest of path^(<ascending, >descending).
func (p *parser) orderBy(n *node) (*node, *Error) {
	if err := p.expect("(", false); err != nil {
		return nil, err
	}
	for {
		term := sortTerm{descending: p.at(">")}
		if term.descending || p.at("<") {
			if err := p.advance(false); err != nil {
				return nil, err
			}
		}
		var err *Error
		if term.expression, err = p.expression(0); err != nil {
			return nil, err
		}
		n.terms = append(n.terms, term)
		if !p.at(",") {
			return n, p.expect(")", false)
		}
		if err := p.advance(false); err != nil {
			return nil, err
		}
	}
}

// call parses the rest of procedure(arguments). If the procedure is the word function, this is a function
// definition.
func (p *parser) call(n *node) (*node, *Error) {
	n.kind = functionNode
	n.procedure, n.lhs = n.lhs, nil
	if !p.at(")") {
		if err := p.arguments(n); err != nil {
			return nil, err
		}
	}
	if err := p.expect(")", true); err != nil {
		return nil, err
	}
	if n.procedure.kind == nameNode && (n.procedure.text == "function" || n.procedure.text == "λ") {
		return p.lambda(n)
	}
	return n, nil
}

func (p *parser) arguments(n *node) *Error {
	for {
		var argument *node
		var err *Error
		if p.at("?") {
			n.kind = partialNode
			argument = &node{kind: operatorNode, text: "?", position: p.token.position}
			err = p.advance(false)
		} else {
			argument, err = p.expression(0)
		}
		if err != nil {
			return err
		}
		n.children = append(n.children, argument)
		if !p.at(",") {
			return nil
		}
		if err := p.advance(false); err != nil {
			return err
		}
	}
}

func (p *parser) lambda(n *node) (*node, *Error) {
	for i, argument := range n.children {
		if argument.kind != variableNode {
			err := notVariable("S0208", argument.position, argument.value())
			err.value = float64(i + 1)
			return nil, err
		}
	}
	n.kind = lambdaNode
	if p.at("<") {
		if err := p.signature(n); err != nil {
			return nil, err
		}
	}
	if err := p.expect("{", false); err != nil {
		return nil, err
	}
	var err *Error
	if n.body, err = p.expression(0); err != nil {
		return nil, err
	}
	return n, p.expect("}", false)
}

// signature reads the tokens of <parameters:result>.
func (p *parser) signature(n *node) *Error {
	start := p.token.position
	var text strings.Builder
	text.WriteByte('<')
	for depth := 1; depth > 0 && !p.at("{") && p.token.kind != endToken; {
		if err := p.advance(false); err != nil {
			return err
		}
		switch {
		case p.at(">"):
			depth--
		case p.at("<"):
			depth++
		}
		if s, ok := p.token.value().(string); ok {
			text.WriteString(s)
		} else {
			text.WriteString(p.token.text)
		}
	}
	if err := p.expect(">", false); err != nil {
		return err
	}
	s, err := parseSignature(text.String())
	if err != nil {
		err.Position += start
		return err
	}
	n.signature = s
	return nil
}
