package partiql

import (
	"strconv"
	"strings"

	"stepback/local/services/dynamodb/expression"
	"stepback/local/services/dynamodb/item"
)

// maxDepth is the maximum nesting depth of conditions and values.
const maxDepth = 64

type parser struct {
	tokens []token
	at     int
	depth  int
	params []item.Value
	used   int
}

// malformed is the parser's panic value, which Parse recovers.
type malformed struct{ err error }

// Parse parses a statement; params replace its question marks.
func Parse(text string, params []item.Value) (s *Statement, err error) {
	all, err := tokens(text)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: all, params: params}
	defer func() {
		if r := recover(); r != nil {
			m, ok := r.(malformed)
			if !ok {
				panic(r)
			}
			s, err = nil, m.err
		}
	}()
	s = p.statement()
	p.sign(";")
	if p.peek().kind != endToken {
		p.fail("Unexpected token after expression")
	}
	if p.used != len(params) {
		return nil, item.Invalid("Number of parameters in request and statement don't match.")
	}
	return s, nil
}

func (p *parser) fail(reason string) { panic(malformed{wrong(reason)}) }

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != endToken {
		p.at++
	}
	return t
}

func (p *parser) word(word string) bool {
	t := p.peek()
	if t.kind != wordToken || !strings.EqualFold(t.text, word) {
		return false
	}
	p.at++
	return true
}

func (p *parser) expect(word string) {
	if !p.word(word) {
		p.fail("Expected " + word)
	}
}

func (p *parser) sign(sign string) bool {
	t := p.peek()
	if t.kind != signToken || t.text != sign {
		return false
	}
	p.at++
	return true
}

func (p *parser) expectSign(sign string) {
	if !p.sign(sign) {
		p.fail("Expected " + sign)
	}
}

func (p *parser) deeper() func() {
	if p.depth++; p.depth > maxDepth {
		p.fail("Statement is nested too deeply")
	}
	return func() { p.depth-- }
}

func (p *parser) statement() *Statement {
	switch {
	case p.word("SELECT"):
		return p.selection()
	case p.word("INSERT"):
		return p.insertion()
	case p.word("UPDATE"):
		s := &Statement{Verb: Update}
		p.source(s)
		p.changes(s)
		p.where(s)
		p.returning(s)
		return s
	case p.word("DELETE"):
		s := &Statement{Verb: Delete}
		p.expect("FROM")
		p.source(s)
		p.where(s)
		p.returning(s)
		return s
	case p.word("EXISTS"):
		p.expectSign("(")
		p.expect("SELECT")
		s := p.selection()
		s.Verb = Exists
		p.expectSign(")")
		return s
	}
	p.fail("Unexpected keyword")
	return nil
}

func (p *parser) selection() *Statement {
	s := &Statement{Verb: Select}
	if !p.sign("*") {
		for {
			s.Paths = append(s.Paths, p.path())
			if !p.sign(",") {
				break
			}
		}
	}
	p.expect("FROM")
	p.source(s)
	p.where(s)
	if p.word("ORDER") {
		p.expect("BY")
		s.Order = p.path()[0].Name
		if p.word("DESC") {
			s.Descending = true
		} else {
			p.word("ASC")
		}
	}
	return s
}

func (p *parser) insertion() *Statement {
	s := &Statement{Verb: Insert}
	p.expect("INTO")
	p.source(s)
	p.expect("VALUE")
	v := p.constant()
	if v.Kind != item.KindMap {
		p.fail("Expected a tuple")
	}
	s.Item = v.Map
	return s
}

func (p *parser) name() string {
	t := p.next()
	if t.kind != nameToken && t.kind != wordToken || t.text == "" {
		p.fail("Expected identifier")
	}
	return t.text
}

func (p *parser) source(s *Statement) {
	s.Table = p.name()
	if p.sign(".") {
		s.Index = p.name()
	}
}

func (p *parser) path() expression.Path {
	path := expression.Attribute(p.name())
	for {
		switch {
		case p.sign("."):
			path = append(path, expression.Attribute(p.name())...)
		case p.sign("["):
			t := p.next()
			n, err := strconv.Atoi(t.text)
			switch {
			case t.kind == textToken:
				path = append(path, expression.Attribute(t.text)...)
			case t.kind == numberToken && err == nil:
				path = append(path, expression.Step{Index: n})
			default:
				p.fail("Expected an index")
			}
			p.expectSign("]")
		default:
			return path
		}
	}
}

func (p *parser) changes(s *Statement) {
	for {
		switch {
		case p.word("SET"):
			for {
				path := p.path()
				p.expectSign("=")
				s.Set = append(s.Set, Assignment{path, p.assigned()})
				if !p.sign(",") {
					break
				}
			}
		case p.word("REMOVE"):
			for {
				s.Remove = append(s.Remove, p.path())
				if !p.sign(",") {
					break
				}
			}
		default:
			if len(s.Set)+len(s.Remove) == 0 {
				p.fail("Expected SET or REMOVE")
			}
			return
		}
	}
}

func (p *parser) assigned() *Node {
	left := p.operand()
	for _, op := range []string{"+", "-"} {
		if p.sign(op) {
			return &Node{Op: op, Kids: []*Node{left, p.operand()}}
		}
	}
	return left
}

func (p *parser) returning(s *Statement) {
	if !p.word("RETURNING") {
		return
	}
	switch {
	case p.word("ALL"):
		s.Returning = "ALL_"
	case p.word("MODIFIED"):
		s.Returning = "UPDATED_"
	default:
		p.fail("Expected ALL or MODIFIED")
	}
	switch {
	case p.word("OLD"):
		s.Returning += "OLD"
	case p.word("NEW"):
		s.Returning += "NEW"
	default:
		p.fail("Expected OLD or NEW")
	}
	p.expectSign("*")
}
