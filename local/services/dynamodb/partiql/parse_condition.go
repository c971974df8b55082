package partiql

import (
	"strings"

	"stepback/local/services/dynamodb/item"
)

func (p *parser) where(s *Statement) {
	if !p.word("WHERE") {
		return
	}
	n := p.or()
	if n.Op == "AND" {
		s.Where = n.Kids
		return
	}
	s.Where = []*Node{n}
}

func (p *parser) or() *Node  { return p.joined("OR", p.and) }
func (p *parser) and() *Node { return p.joined("AND", p.not) }

func (p *parser) joined(word string, part func() *Node) *Node {
	n := part()
	for p.word(word) {
		kid := part()
		if n.Op != word {
			n = &Node{Op: word, Kids: []*Node{n}}
		}
		if kid.Op == word {
			n.Kids = append(n.Kids, kid.Kids...)
		} else {
			n.Kids = append(n.Kids, kid)
		}
	}
	return n
}

func (p *parser) not() *Node {
	defer p.deeper()()
	if p.word("NOT") {
		return &Node{Op: "NOT", Kids: []*Node{p.not()}}
	}
	if p.sign("(") {
		n := p.or()
		p.expectSign(")")
		return n
	}
	return p.comparison()
}

func (p *parser) comparison() *Node {
	left := p.operand()
	for _, op := range []string{"=", "<>", "!=", "<=", ">=", "<", ">"} {
		if p.sign(op) {
			if op == "!=" {
				op = "<>"
			}
			return &Node{Op: op, Kids: []*Node{left, p.operand()}}
		}
	}
	switch {
	case p.word("IS"):
		return p.is(left)
	case p.word("BETWEEN"):
		low := p.operand()
		p.expect("AND")
		return &Node{Op: "BETWEEN", Kids: []*Node{left, low, p.operand()}}
	case p.word("IN"):
		closing := ")"
		if p.sign("[") {
			closing = "]"
		} else {
			p.expectSign("(")
		}
		n := &Node{Op: "IN", Kids: []*Node{left}}
		for {
			n.Kids = append(n.Kids, p.operand())
			if !p.sign(",") {
				break
			}
		}
		p.expectSign(closing)
		return n
	}
	switch left.Op {
	case "begins_with", "contains", "attribute_type", "attribute_exists", "attribute_not_exists":
		return left
	}
	p.fail("Expected a condition")
	return nil
}

func (p *parser) is(left *Node) *Node {
	not := p.word("NOT")
	var n *Node
	switch {
	case p.word("MISSING"):
		n = &Node{Op: "attribute_not_exists", Kids: []*Node{left}}
	case p.word("NULL"):
		n = &Node{Op: "attribute_type", Kids: []*Node{left, {Op: opValue, Value: item.String("NULL")}}}
	default:
		p.fail("Expected MISSING or NULL")
	}
	if not {
		return &Node{Op: "NOT", Kids: []*Node{n}}
	}
	return n
}

// functions maps the functions of conditions and updates to their number of operands.
var functions = map[string]int{
	"begins_with": 2, "contains": 2, "attribute_type": 2, "size": 1, "list_append": 2, "set_add": 2, "set_delete": 2,
	"attribute_exists": 1, "attribute_not_exists": 1, "if_not_exists": 2,
}

func (p *parser) operand() *Node {
	t := p.peek()
	if t.kind == wordToken && p.tokens[p.at+1] == (token{signToken, "("}) {
		name := strings.ToLower(t.text)
		if most, ok := functions[name]; ok {
			p.at += 2
			n := &Node{Op: name}
			for {
				n.Kids = append(n.Kids, p.operand())
				if !p.sign(",") {
					break
				}
			}
			p.expectSign(")")
			if len(n.Kids) != most {
				p.fail("Unexpected number of arguments of " + name)
			}
			return n
		}
		p.fail("Unsupported function: " + t.text)
	}
	if t.kind == nameToken || t.kind == wordToken && !literal(t.text) {
		return &Node{Op: opPath, Path: p.path()}
	}
	return &Node{Op: opValue, Value: p.constant()}
}
