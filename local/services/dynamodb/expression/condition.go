package expression

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"stepback/local/services/dynamodb/item"
)

// Operator is the operator of a condition.
type Operator string

// The operators of conditions; a function is an operator with its name.
const (
	And     Operator = "AND"
	Or      Operator = "OR"
	Not     Operator = "NOT"
	In      Operator = "IN"
	Between Operator = "BETWEEN"
	Equal   Operator = "="
	Unequal Operator = "<>"
	Less    Operator = "<"
	AtMost  Operator = "<="
	Greater Operator = ">"
	AtLeast Operator = ">="

	AttributeExists    Operator = "attribute_exists"
	AttributeNotExists Operator = "attribute_not_exists"
	AttributeType      Operator = "attribute_type"
	BeginsWith         Operator = "begins_with"
	Contains           Operator = "contains"
	sizeFunction       Operator = "size"
)

// Condition is a condition on an item: an operator with conditions or operands.
type Condition struct {
	Operator   Operator
	Conditions []*Condition // for AND, OR and NOT
	Operands   []Operand    // for all others
}

// Operand is a path, a value, or the size of the value at a path.
type Operand struct {
	Path  Path // nil for a value
	Value item.Value
	Size  bool // the size of the path's value, or of Value
}

// mostInOperands is the maximum number of operands of IN, including the one before it.
const mostInOperands = 100

// ParseCondition parses a condition. kind is the name of the parameter, such as ConditionExpression. The error is an
// item.Invalid.
func ParseCondition(kind, text string, params *Parameters) (*Condition, error) {
	var made *Condition
	err := parse(kind, text, params, func(p *parser) {
		p.judging = true
		made = p.condition(p.or())
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// node is a part of a condition: a condition or an operand. The two are distinguished only where one of them is
// required.
type node struct {
	condition *Condition
	operand   Operand
	function  string // set for an operand that is a function's result
	wrapped   bool   // it is in parentheses
}

// condition returns a node's condition. If the node is only an operand, it records or reports an error.
func (p *parser) condition(n node) *Condition {
	if n.condition == nil {
		if n.function != "" {
			p.note(misusedFunction,
				"The function is not allowed to be used this way in an expression; function: "+n.function)
			return &Condition{Operator: Not}
		}
		p.fail()
	}
	return n.condition
}

// operand returns a node's operand.
func (p *parser) operand(n node) Operand {
	if n.condition == nil {
		return n.operand
	}
	if !function(n.condition.Operator) {
		p.at--
		p.fail()
	}
	p.note(misusedFunction, "The function is not allowed to be used this way in an expression; function: "+
		string(n.condition.Operator))
	return Operand{}
}

// function reports whether an operator is the name of a function.
func function(o Operator) bool {
	switch o {
	case And, Or, Not, In, Between, Equal, Unequal, Less, AtMost, Greater, AtLeast:
		return false
	default:
		return true
	}
}

func (p *parser) or() node  { return p.joined("OR", Or, p.and) }
func (p *parser) and() node { return p.joined("AND", And, p.not) }

func (p *parser) joined(word string, o Operator, part func() node) node {
	n := part()
	if !p.isKeyword(word) {
		return n
	}
	made := &Condition{Operator: o, Conditions: []*Condition{p.condition(n)}}
	for p.keyword(word) {
		p.operators++
		made.Conditions = append(made.Conditions, p.condition(part()))
	}
	return node{condition: made}
}

func (p *parser) isKeyword(word string) bool {
	t := p.peek()
	return t.kind == tokenWord && equalFold(t.text, word)
}

func (p *parser) not() node {
	if p.isKeyword("NOT") {
		p.at++
		p.operators++
		return node{condition: &Condition{Operator: Not, Conditions: []*Condition{p.condition(p.not())}}}
	}
	return p.comparison()
}

func (p *parser) comparison() node {
	left := p.primary()
	t := p.peek()
	var made *Condition
	switch {
	case t.kind == tokenSign && slices.Contains([]Operator{Equal, Unequal, Less, AtMost, Greater, AtLeast},
		Operator(t.text)):
		p.at++
		one := p.operand(left)
		made = &Condition{Operator: Operator(t.text), Operands: []Operand{one, p.operand(p.primary())}}
	case p.isKeyword("BETWEEN"):
		p.at++
		one := p.operand(left)
		low := p.operand(p.primary())
		if !p.keyword("AND") {
			p.fail()
		}
		made = &Condition{Operator: Between, Operands: []Operand{one, low, p.operand(p.primary())}}
	case p.isKeyword("IN"):
		p.at++
		made = &Condition{Operator: In, Operands: []Operand{p.operand(left)}}
		p.expect("(")
		for more := true; more; more = p.accept(",") {
			made.Operands = append(made.Operands, p.operand(p.primary()))
		}
		p.expect(")")
		if count := len(made.Operands); count > mostInOperands {
			p.wrong("The IN operator is provided with too many operands; number of operands: " + strconv.Itoa(count))
		}
	default:
		return left
	}
	p.operators++
	p.check(made)
	return node{condition: made}
}

func (p *parser) primary() node {
	t := p.peek()
	switch {
	case p.accept("("):
		n := p.or()
		p.expect(")")
		if n.wrapped {
			p.note(redundantParentheses, "The expression has redundant parentheses;")
		}
		n.wrapped = true
		return n
	case t.kind == tokenValue:
		return node{operand: Operand{Value: p.value()}}
	case t.kind == tokenWord && p.tokens[p.at+1].text == "(":
		return p.call()
	case t.kind == tokenWord && (slices.ContainsFunc([]string{"AND", "OR", "NOT", "BETWEEN", "IN"},
		func(w string) bool { return equalFold(t.text, w) })):
		p.fail()
	}
	return node{operand: Operand{Path: p.path(reservedCondition)}}
}

// arity holds the number of operands of functions.
var arity = map[Operator]int{AttributeExists: 1, AttributeNotExists: 1, AttributeType: 2, BeginsWith: 2, Contains: 2,
	sizeFunction: 1}

func (p *parser) call() node {
	p.operators++
	name := p.next().text
	p.expect("(")
	made := &Condition{Operator: Operator(name)}
	for more := true; more; more = p.accept(",") {
		made.Operands = append(made.Operands, p.operand(p.primary()))
	}
	p.expect(")")
	want, ok := arity[made.Operator]
	switch {
	case !ok:
		if name == "if_not_exists" || name == "list_append" {
			p.note(unknownFunction, "The function is not allowed in a condition expression; function: "+name)
		} else {
			p.note(unknownFunction, "Invalid function name; function: "+name)
		}
	case want != len(made.Operands):
		p.wrong("Incorrect number of operands for operator or function; operator or function: " + name +
			", number of operands: " + strconv.Itoa(len(made.Operands)))
		if made.Operator != sizeFunction {
			return node{condition: made}
		}
	default:
		p.check(made)
	}
	if made.Operator == sizeFunction && ok {
		o := made.Operands[0]
		o.Size = true
		return node{operand: o, function: name}
	}
	return node{condition: made}
}

// wrong records an error in the operands of a condition.
func (p *parser) wrong(message string) { p.note(inCondition, message) }

// check checks the operands of a condition, as far as their types are known.
func (p *parser) check(c *Condition) {
	o := c.Operands
	if len(o) == 2 && o[0].Path != nil && o[1].Path != nil && !o[0].Size && !o[1].Size && same(o[0].Path, o[1].Path) {
		p.wrong("The first operand must be distinct from the remaining operands for this operator or function; operator: " +
			string(c.Operator) + ", first operand: " + o[0].Path.String())
	}
	mistyped := func(kind string) {
		p.wrong("Incorrect operand type for operator or function; operator or function: " + string(c.Operator) +
			", operand type: " + kind)
	}
	switch c.Operator {
	case AttributeExists, AttributeNotExists:
		if o[0].Path == nil || o[0].Size {
			p.wrong("Operator or function requires a document path; operator or function: " + string(c.Operator))
		}
	case BeginsWith:
		for _, operand := range o {
			if k := operand.kind(); k != item.KindNone && k != item.KindString && k != item.KindBinary {
				mistyped(k.String())
			}
		}
	case AttributeType:
		switch k := o[1].kind(); {
		case k == item.KindNone && o[1].Path != nil:
			mistyped("{NS,SS,L,BS,N,M,B,BOOL,NULL,S}")
		case k != item.KindString:
			mistyped(k.String())
		case item.KindOf(o[1].Value.Text) == item.KindNone:
			p.wrong("Invalid attribute type name found; type: " + o[1].Value.Text +
				", valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}")
		}
	case sizeFunction:
		switch k := o[0].kind(); k {
		case item.KindNumber, item.KindBool, item.KindNull:
			mistyped(k.String())
		default:
		}
	case Less, AtMost, Greater, AtLeast, Between:
		for _, operand := range o {
			if k := operand.kind(); k != item.KindNone && !k.Ordered() {
				mistyped(k.String())
			}
		}
		if c.Operator == Between {
			p.checkBounds(o[1], o[2])
		}
	default:
	}
}

func (p *parser) checkBounds(low, high Operand) {
	if low.Path != nil || high.Path != nil || low.Size || high.Size || !low.Value.Kind.Ordered() ||
		!high.Value.Kind.Ordered() {
		return
	}
	shown := "; lower bound operand: AttributeValue: " + low.Value.Shown() + ", upper bound operand: AttributeValue: " +
		high.Value.Shown()
	switch {
	case low.Value.Kind != high.Value.Kind:
		p.wrong("The BETWEEN operator requires same data type for lower and upper bounds" + shown)
	case item.Compare(low.Value, high.Value) > 0:
		p.wrong("The BETWEEN operator requires upper bound to be greater than or equal to lower bound" + shown)
	}
}

// kind returns the type of an operand as far as it is known without an item.
func (o Operand) kind() item.Kind {
	switch {
	case o.Size:
		return item.KindNumber
	case o.Path != nil:
		return item.KindNone
	}
	return o.Value.Kind
}

// in returns the value of the operand in an item.
func (o Operand) in(i item.Item) item.Value {
	v := o.Value
	if o.Path != nil {
		v = o.Path.In(i)
	}
	if !o.Size {
		return v
	}
	var n int
	switch v.Kind {
	case item.KindString:
		n = len(utf16.Encode([]rune(v.Text)))
	case item.KindBinary:
		n = len(v.Text)
	case item.KindMap:
		n = len(v.Map)
	case item.KindList, item.KindStringSet, item.KindNumberSet, item.KindBinarySet:
		n = len(v.List)
	default:
		return item.Value{}
	}
	return item.Value{Kind: item.KindNumber, Text: strconv.Itoa(n)}
}

// Holds reports whether the condition holds for an item; nil is an item without attributes.
func (c *Condition) Holds(i item.Item) bool {
	switch c.Operator {
	case And:
		for _, part := range c.Conditions {
			if !part.Holds(i) {
				return false
			}
		}
		return true
	case Or:
		return slices.ContainsFunc(c.Conditions, func(part *Condition) bool { return part.Holds(i) })
	case Not:
		return !c.Conditions[0].Holds(i)
	default:
	}
	v := c.Operands[0].in(i)
	switch c.Operator {
	case AttributeExists:
		return v.Kind != item.KindNone
	case AttributeNotExists:
		return v.Kind == item.KindNone
	case AttributeType:
		return v.Kind != item.KindNone && v.Kind == item.KindOf(c.Operands[1].in(i).Text)
	case In:
		return v.Kind != item.KindNone &&
			slices.ContainsFunc(c.Operands[1:], func(o Operand) bool { return item.Equal(v, o.in(i)) })
	case Between:
		return compare(AtLeast, v, c.Operands[1].in(i)) && compare(AtMost, v, c.Operands[2].in(i))
	case BeginsWith:
		other := c.Operands[1].in(i)
		return v.Kind == other.Kind && (v.Kind == item.KindString || v.Kind == item.KindBinary) &&
			strings.HasPrefix(v.Text, other.Text)
	case Contains:
		other := c.Operands[1].in(i)
		return other.Kind != item.KindNone && v.Contains(other)
	default:
		return compare(c.Operator, v, c.Operands[1].in(i))
	}
}

func compare(o Operator, a, b item.Value) bool {
	switch o {
	case Equal:
		return a.Kind != item.KindNone && item.Equal(a, b)
	case Unequal: // also holds if neither exists
		return a.Kind == item.KindNone || !item.Equal(a, b)
	default:
	}
	if a.Kind != b.Kind || !a.Kind.Ordered() {
		return false
	}
	order := item.Compare(a, b)
	switch o {
	case Less:
		return order < 0
	case AtMost:
		return order <= 0
	case Greater:
		return order > 0
	default:
		return order >= 0
	}
}

// Paths calls f with each path that the condition reads.
func (c *Condition) Paths(f func(Path)) {
	for _, part := range c.Conditions {
		part.Paths(f)
	}
	for _, o := range c.Operands {
		if o.Path != nil {
			f(o.Path)
		}
	}
}
