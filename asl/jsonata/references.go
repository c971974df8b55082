package jsonata

import "slices"

// RootReads lists what the expression reads from its document: the names of fields, $$, and $ for the whole
// document where nothing else is in focus. Each is listed once, in the order of the expression. In the bodies of
// functions and the patterns of transforms it looks only for $$, because everything else there depends on the
// calls.
func (x *Expression) RootReads() []string {
	var r reads
	r.visit(x.root, true)
	return r.found
}

// reads collects what is read from the document.
type reads struct{ found []string }

func (r *reads) add(name string) {
	if !slices.Contains(r.found, name) {
		r.found = append(r.found, name)
	}
}

// visit walks a node. document is true if the node is evaluated with the document in focus.
func (r *reads) visit(n *node, document bool) {
	if n == nil {
		return
	}
	switch {
	case n.kind == nameNode && document:
		r.add(n.text)
	case n.kind == variableNode && n.text == "" && document:
		r.add("$")
	case n.kind == variableNode && n.text == "$":
		r.add("$$")
	case n.kind == lambdaNode:
		document = false
	}
	for i, step := range n.steps {
		r.visit(step, document && i == 0)
	}
	r.operands(n, document)
	r.inFocus(n)
}

// operands walks the parts that are evaluated with the same focus as the node.
func (r *reads) operands(n *node, document bool) {
	if n.kind != bindNode { // the left side is the variable
		r.visit(n.lhs, document)
	}
	r.visit(n.rhs, document)
	if n.kind != lambdaNode { // the children of a function are its parameters
		for _, c := range n.children {
			r.visit(c, document)
		}
	}
	for _, p := range n.pairs {
		r.visit(p[0], document)
		r.visit(p[1], document)
	}
	r.visit(n.condition, document)
	r.visit(n.then, document)
	r.visit(n.otherwise, document)
	r.visit(n.body, document)
}

// inFocus walks the parts that are evaluated with the node's own results in focus.
func (r *reads) inFocus(n *node) {
	for _, t := range n.terms {
		r.visit(t.expression, false)
	}
	for _, s := range slices.Concat(n.predicates, n.stages) {
		r.visit(s.filter, false)
	}
	if n.group != nil {
		for _, p := range n.group.pairs {
			r.visit(p[0], false)
			r.visit(p[1], false)
		}
	}
	r.visit(n.pattern, false)
	r.visit(n.update, false)
	r.visit(n.remove, false)
}
