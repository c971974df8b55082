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

func literal(word string) bool {
	return strings.EqualFold(word, "true") || strings.EqualFold(word, "false") || strings.EqualFold(word, "null")
}

// constant parses a value.
func (p *parser) constant() item.Value {
	defer p.deeper()()
	t := p.next()
	switch t.kind {
	case textToken:
		return item.String(t.text)
	case numberToken:
		return p.number(t.text)
	case wordToken:
		switch strings.ToLower(t.text) {
		case "true", "false":
			return item.Value{Kind: item.KindBool, Bool: strings.EqualFold(t.text, "true")}
		case "null":
			return item.Value{Kind: item.KindNull}
		}
	case signToken:
		switch t.text {
		case "?":
			if p.used == len(p.params) {
				panic(malformed{item.Invalid("Number of parameters in request and statement don't match.")})
			}
			p.used++
			return p.params[p.used-1]
		case "-", "+":
			if n := p.next(); n.kind == numberToken {
				return p.number(strings.TrimPrefix(t.text, "+") + n.text)
			}
		case "[":
			return item.Value{Kind: item.KindList, List: p.elements("]")}
		case "<<":
			return p.set(p.elements(">>"))
		case "{":
			return item.Value{Kind: item.KindMap, Map: p.tuple()}
		}
	default:
	}
	p.fail("Expected a value")
	return item.Value{}
}

func (p *parser) number(text string) item.Value {
	v, err := item.Number(text)
	if err != nil {
		panic(malformed{err})
	}
	return v
}

func (p *parser) elements(closing string) []item.Value {
	all := []item.Value{}
	if p.sign(closing) {
		return all
	}
	for {
		all = append(all, p.constant())
		if !p.sign(",") {
			p.expectSign(closing)
			return all
		}
	}
}

func (p *parser) set(elements []item.Value) item.Value {
	if len(elements) == 0 {
		p.fail("A set must not be empty")
	}
	kinds := map[item.Kind]item.Kind{item.KindString: item.KindStringSet, item.KindNumber: item.KindNumberSet,
		item.KindBinary: item.KindBinarySet}
	kind, ok := kinds[elements[0].Kind]
	for _, e := range elements {
		if !ok || e.Kind != elements[0].Kind {
			p.fail("A set has elements of one type: string, number or binary")
		}
	}
	return item.Set(kind, elements)
}

func (p *parser) tuple() item.Item {
	made := item.Item{}
	if p.sign("}") {
		return made
	}
	for {
		t := p.next()
		if t.kind != textToken && t.kind != nameToken {
			p.fail("Expected the name of an attribute in quotes")
		}
		p.expectSign(":")
		if _, twice := made[t.text]; twice {
			p.fail("Duplicate attribute: " + t.text)
		}
		made[t.text] = p.constant()
		if !p.sign(",") {
			p.expectSign("}")
			return made
		}
	}
}
