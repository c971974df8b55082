package jsonata

import (
	"slices"

	"stepback/asl/jsonata/internal/ecma"
)

// nodeKind is the kind of a node of the syntax tree.
type nodeKind uint8

const (
	endNode nodeKind = iota
	nameNode
	variableNode
	operatorNode
	stringNode
	numberNode
	valueNode
	regexNode
	binaryNode
	unaryNode
	functionNode
	partialNode
	lambdaNode
	conditionNode
	transformNode
	blockNode
	wildcardNode
	descendantNode
	parentNode
	pathNode
	sortNode
	bindNode
	applyNode
)

// kindNames holds the names of node kinds that messages use.
var kindNames = [...]string{
	"", "name", "variable", "operator", "string", "number", "value", "regex", "binary", "unary", "function", "partial",
	"lambda",
	"condition", "transform", "block", "wildcard", "descendant", "parent", "path", "sort", "bind", "apply",
}

// node is one node of the syntax tree. The parser fills in the fields of the grammar; analysis converts dots and
// brackets to paths with steps, predicates and stages. After that the tree never changes.
type node struct {
	kind     nodeKind
	text     string // operator, name or variable
	literal  value  // of string, number and value
	regex    *ecma.Regexp
	position int

	lhs, rhs *node
	// children are the elements of an array constructor, the expressions of a block and the arguments of a call.
	children []*node
	pairs    [][2]*node // of an object constructor or grouping
	terms    []sortTerm
	steps    []*node
	plain    int // number of leading steps that are only a variable or names

	procedure *node      // of function and partial
	signature *signature // of lambda
	body      *node
	thunk     bool

	condition, then, otherwise *node
	pattern, update, remove    *node

	predicates, stages []stage
	group              *grouping

	keepArray     bool // followed by []
	keepSingleton bool // a path that contains such a step
	consArray     bool
	tuple         bool
	focus, index  string
	ancestor      *slot
	slot          *slot
	seeking       []*slot
}

type sortTerm struct {
	descending bool
	expression *node
}

// stage filters a step's result. If filter is nil, it binds the position to a variable instead.
type stage struct {
	filter   *node
	variable string
}

type grouping struct {
	pairs    [][2]*node
	position int
}

// slot identifies the item that a parent operator refers to, by a label and the number of steps up.
type slot struct {
	label string
	level int
}

// walk visits the node and everything under it.
func (n *node) walk(visit func(*node)) {
	if n == nil {
		return
	}
	visit(n)
	for _, c := range []*node{
		n.lhs, n.rhs, n.procedure, n.body, n.condition, n.then, n.otherwise, n.pattern, n.update, n.remove,
	} {
		c.walk(visit)
	}
	for _, list := range [][]*node{n.children, n.steps} {
		for _, c := range list {
			c.walk(visit)
		}
	}
	walkPairs(n.pairs, visit)
	if n.group != nil {
		walkPairs(n.group.pairs, visit)
	}
	for _, t := range n.terms {
		t.expression.walk(visit)
	}
	for _, s := range slices.Concat(n.predicates, n.stages) {
		s.filter.walk(visit)
	}
}

func walkPairs(pairs [][2]*node, visit func(*node)) {
	for _, p := range pairs {
		p[0].walk(visit)
		p[1].walk(visit)
	}
}

// value returns the form of the parsed node that messages show.
func (n *node) value() value {
	switch n.kind {
	case stringNode, numberNode, valueNode:
		return n.literal
	case endNode:
		return "(end)"
	case regexNode:
		return newObject(0)
	case nameNode, variableNode:
		return n.text
	default:
		if n.text == "" {
			return nil
		}
		return n.text
	}
}

// procedureName returns the name of the function that a call invokes, for use in errors; nil if it has none.
func (n *node) procedureName() value {
	if n.kind == pathNode {
		return n.steps[0].value()
	}
	return n.value()
}
