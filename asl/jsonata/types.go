package jsonata

import (
	"slices"
	"strings"
)

// Mismatch is an operator with an operand of a type that it never accepts: its evaluation fails, whatever the input is.
type Mismatch struct {
	// Operator is the operator as it is written, such as /.
	Operator string
	// Side is left, right, or empty for the operand of a sign.
	Side string
	// Type is the type of the operand: string, number, boolean, null, array, object or function.
	Type string
	// Wanted describes the operands that the operator accepts.
	Wanted string
}

// Mismatches lists the operators of an expression whose operands have types that cannot be, in the order of the
// expression. Types are known for literals, constructors, the results of operators, and calls of JSONata's functions.
func (x *Expression) Mismatches() []Mismatch {
	t := typing{builtins: x.builtins, own: assigned([]*node{x.root})}
	x.root.walk(func(n *node) {
		if n.kind == lambdaNode {
			for _, parameter := range n.children {
				t.own[parameter.text] = true
			}
		}
	})
	var found []Mismatch
	x.root.walk(func(n *node) { found = append(found, t.mismatches(n)...) })
	return found
}

// typing infers types without evaluating.
type typing struct {
	builtins map[string]*native
	own      map[string]bool // the variables that the expression assigns, which may hide functions
}

// mismatches returns what is wrong with the operands of one operator.
func (t *typing) mismatches(n *node) []Mismatch {
	check := func(wanted string, accepts ...string) (found []Mismatch) {
		for side, operand := range map[string]*node{"left": n.lhs, "right": n.rhs} {
			if kind := t.typeOf(operand); kind != "" && !slices.Contains(accepts, kind) {
				found = append(found, Mismatch{n.text, side, kind, wanted})
			}
		}
		slices.SortFunc(found, func(a, b Mismatch) int { return strings.Compare(a.Side, b.Side) })
		return found
	}
	switch {
	case n.kind == unaryNode && n.text == "-":
		if kind := t.typeOf(n.lhs); kind != "" && kind != "number" {
			return []Mismatch{{"-", "", kind, "a number"}}
		}
	case n.kind != binaryNode:
	case slices.Contains([]string{"+", "-", "*", "/", "%", ".."}, n.text):
		return check("a number", "number")
	case slices.Contains([]string{"<", "<=", ">", ">="}, n.text):
		if found := check("a number or a string", "number", "string"); len(found) > 0 {
			return found
		}
		left, right := t.typeOf(n.lhs), t.typeOf(n.rhs)
		if left != "" && right != "" && left != right {
			return []Mismatch{{n.text, "right", right, "a " + left + " like its left side"}}
		}
	}
	return nil
}

// letters maps the letters of signatures to types.
var letters = map[byte]string{'s': "string", 'n': "number", 'b': "boolean", 'a': "array", 'o': "object"}

// typeOf returns the type of a node's value, unless it is undefined; "" if the type is not known.
func (t *typing) typeOf(n *node) string {
	if n == nil || len(n.predicates)+len(n.stages) > 0 || n.group != nil {
		return ""
	}
	switch n.kind {
	case stringNode:
		return "string"
	case numberNode:
		return "number"
	case valueNode:
		if _, isBoolean := n.literal.(bool); isBoolean {
			return "boolean"
		}
		return "null"
	case regexNode:
		return "function"
	case lambdaNode:
		if n.thunk {
			return t.typeOf(n.body)
		}
		return "function"
	case unaryNode:
		return map[string]string{"[": "array", "{": "object", "-": "number"}[n.text]
	case binaryNode:
		switch n.text {
		case "+", "-", "*", "/", "%":
			return "number"
		case "&":
			return "string"
		case "..":
			return "array"
		case "=", "!=", "<", "<=", ">", ">=", "and", "or", "in":
			return "boolean"
		}
	case conditionNode:
		if then := t.typeOf(n.then); n.otherwise != nil && then == t.typeOf(n.otherwise) {
			return then
		}
	case bindNode:
		return t.typeOf(n.rhs)
	case blockNode:
		if last := len(n.children) - 1; last >= 0 {
			return t.typeOf(n.children[last])
		}
	case functionNode:
		return t.result(n.procedure)
	default:
	}
	return ""
}

// result returns the type that a function of JSONata returns.
func (t *typing) result(procedure *node) string {
	if procedure.kind != variableNode || t.own[procedure.text] || t.builtins[procedure.text] == nil {
		return ""
	}
	depth, s := 0, t.builtins[procedure.text].signature.definition
	for i := 1; i+1 < len(s); i++ {
		switch s[i] {
		case '<':
			depth++
		case '>':
			depth--
		case ':':
			if depth == 0 {
				return letters[s[i+1]]
			}
		}
	}
	return ""
}
