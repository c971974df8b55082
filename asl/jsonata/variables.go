package jsonata

import "slices"

// FreeVariable is a variable that an expression reads and does not assign itself.
type FreeVariable struct {
	// Name is the name without its dollar.
	Name string
	// Called is true if the variable is called as a function.
	Called bool
	// Tested is true if the expression asks with $exists whether the variable has a value.
	Tested bool
}

// FreeVariables lists the variables that the expression reads and does not assign itself, each once for reads and once
// for calls, in the order of the expression. Functions of JSONata, $ and $$ are not among them.
func (x *Expression) FreeVariables() []FreeVariable {
	f := free{builtins: x.builtins}
	f.visit(x.root, &bound{names: map[string]bool{}})
	for i := range f.found {
		f.found[i].Tested = slices.Contains(f.tested, f.found[i].Name)
	}
	return f.found
}

// Functions returns the names of the functions that the expression may call, without their dollar.
func (x *Expression) Functions() []string {
	names := make([]string, 0, len(x.builtins))
	for name := range x.builtins {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// bound is a block or the body of a function, with the variables that it has assigned so far.
type bound struct {
	names  map[string]bool
	later  map[string]bool // those that the block assigns anywhere; bodies of functions run later and may read them
	inside *bound
	body   bool // the body of a function
}

// has reports whether a variable is assigned.
func (b *bound) has(name string) bool {
	later := false
	for ; b != nil; b = b.inside {
		if b.names[name] || later && b.later[name] {
			return true
		}
		later = later || b.body
	}
	return false
}

// free collects free variables.
type free struct {
	builtins map[string]*native
	found    []FreeVariable
	tested   []string
}

func (f *free) add(name string, called bool, in *bound) {
	if name == "" || name == "$" || in.has(name) || f.builtins[name] != nil {
		return
	}
	v := FreeVariable{Name: name, Called: called}
	if !slices.Contains(f.found, v) {
		f.found = append(f.found, v)
	}
}

// visit walks a node in the order of its evaluation.
func (f *free) visit(n *node, in *bound) {
	if n == nil {
		return
	}
	switch n.kind {
	case variableNode:
		f.add(n.text, false, in)
	case bindNode:
		if n.rhs.kind == lambdaNode { // may call itself
			in.names[n.lhs.text] = true
		}
		f.visit(n.rhs, in)
		in.names[n.lhs.text] = true
		return
	case lambdaNode:
		if !n.thunk {
			in = &bound{names: map[string]bool{}, inside: in, body: true}
			for _, parameter := range n.children {
				in.names[parameter.text] = true
			}
		}
		f.visit(n.body, in)
		return
	case blockNode:
		in = &bound{names: map[string]bool{}, later: assigned(n.children), inside: in}
	case functionNode, partialNode:
		if n.procedure.kind != variableNode {
			f.visit(n.procedure, in)
		} else {
			f.add(n.procedure.text, true, in)
			if n.procedure.text == "exists" {
				for _, c := range n.children {
					f.tests(c)
				}
			}
		}
	default:
	}
	f.parts(n, in)
}

// tests records the variable from which an argument of $exists starts.
func (f *free) tests(n *node) {
	if n.kind == pathNode {
		n = n.steps[0]
	}
	if n.kind == variableNode {
		f.tested = append(f.tested, n.text)
	}
}

// parts walks the operands and parts of a node.
func (f *free) parts(n *node, in *bound) {
	for _, one := range []*node{n.lhs, n.rhs} {
		f.visit(one, in)
	}
	for _, list := range [][]*node{n.children, n.steps} {
		for _, one := range list {
			f.visit(one, in)
			for _, name := range []string{one.focus, one.index} {
				if name != "" {
					in.names[name] = true
				}
			}
		}
	}
	pairs := n.pairs
	for _, s := range slices.Concat(n.predicates, n.stages) {
		f.visit(s.filter, in)
		if s.variable != "" {
			in.names[s.variable] = true
		}
	}
	if n.group != nil {
		pairs = slices.Concat(pairs, n.group.pairs)
	}
	for _, p := range pairs {
		f.visit(p[0], in)
		f.visit(p[1], in)
	}
	for _, t := range n.terms {
		f.visit(t.expression, in)
	}
	for _, one := range []*node{n.condition, n.then, n.otherwise, n.pattern, n.update, n.remove} {
		f.visit(one, in)
	}
}

// assigned returns the variables that the expressions of a block assign.
func assigned(children []*node) map[string]bool {
	names := map[string]bool{}
	for _, c := range children {
		c.walk(func(n *node) {
			if n.kind == bindNode {
				names[n.lhs.text] = true
			}
		})
	}
	return names
}
