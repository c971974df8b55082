package jsonata

// analysis converts the grammar's tree to the tree that is evaluated.
type analysis struct {
	labels int
}

// analyse flattens paths, attaches predicates and groupings to their steps, resolves parent operators and marks tail
// calls.
func analyse(n *node) (*node, *Error) {
	a := &analysis{}
	result, err := a.process(n)
	if err != nil {
		return nil, err
	}
	if result.kind == parentNode || result.seeking != nil {
		return nil, noParent(result)
	}
	return result, nil
}

func (a *analysis) process(n *node) (*node, *Error) {
	result, err := a.dispatch(n)
	if err != nil {
		return nil, err
	}
	if n.keepArray {
		result.keepArray = true
	}
	return result, nil
}

func (a *analysis) dispatch(n *node) (*node, *Error) {
	switch n.kind {
	case binaryNode:
		return a.binary(n)
	case unaryNode:
		return a.unary(n)
	case functionNode, partialNode:
		return a.call(n)
	case lambdaNode:
		return a.lambda(n)
	case conditionNode:
		return a.conditional(n)
	case transformNode:
		return a.transform(n)
	case blockNode:
		return a.block(n)
	case nameNode:
		return &node{kind: pathNode, steps: []*node{n}, keepSingleton: n.keepArray}, nil
	case parentNode:
		a.labels++
		return &node{kind: parentNode, slot: &slot{label: "!" + formatNumber(float64(a.labels)), level: 1}}, nil
	case operatorNode:
		if n.text == "?" {
			return n, nil
		}
		n.kind = nameNode
		return a.process(n)
	case endNode:
		err := &Error{Code: "S0207", Position: n.position}
		err.setToken("(end)")
		return nil, err
	default:
		return n, nil
	}
}

func (a *analysis) binary(n *node) (*node, *Error) {
	switch n.text {
	case ".":
		return a.path(n)
	case "[":
		return a.filter(n)
	case "{":
		return a.grouping(n)
	case "^":
		return a.orderBy(n)
	case "@":
		return a.focus(n)
	case "#":
		return a.index(n)
	}
	lhs, rhs, err := a.operands(n)
	if err != nil {
		return nil, err
	}
	result := &node{kind: binaryNode, text: n.text, position: n.position, lhs: lhs, rhs: rhs}
	switch n.text {
	case ":=":
		result.kind = bindNode
		result.inherit(rhs)
	case "~>":
		result.kind = applyNode
		result.keepArray = lhs.keepArray || rhs.keepArray
	default:
		result.inherit(lhs)
		result.inherit(rhs)
	}
	return result, nil
}

func (a *analysis) operands(n *node) (lhs, rhs *node, err *Error) {
	if lhs, err = a.process(n.lhs); err == nil {
		rhs, err = a.process(n.rhs)
	}
	return lhs, rhs, err
}

func (a *analysis) unary(n *node) (*node, *Error) {
	result := &node{kind: unaryNode, text: n.text, position: n.position}
	var err *Error
	switch n.text {
	case "[":
		result.children, err = a.all(n.children, result)
		return result, err
	case "{":
		result.pairs, err = a.pairs(n.pairs, result)
		return result, err
	}
	operand, err := a.process(n.lhs)
	if err != nil {
		return nil, err
	}
	if f, ok := operand.literal.(float64); ok && operand.kind == numberNode {
		operand.literal = -f
		return operand, nil
	}
	result.lhs = operand
	result.inherit(operand)
	return result, nil
}

// all processes nodes. parent takes over the parent operators that they could not resolve.
func (a *analysis) all(nodes []*node, parent *node) ([]*node, *Error) {
	out := make([]*node, len(nodes))
	for i, n := range nodes {
		child, err := a.process(n)
		if err != nil {
			return nil, err
		}
		parent.inherit(child)
		out[i] = child
	}
	return out, nil
}

// pairs processes keys and values. parent, unless nil, takes over the parent operators that they could not resolve.
func (a *analysis) pairs(pairs [][2]*node, parent *node) ([][2]*node, *Error) {
	out := make([][2]*node, len(pairs))
	for i, pair := range pairs {
		for j, n := range pair {
			child, err := a.process(n)
			if err != nil {
				return nil, err
			}
			if parent != nil {
				parent.inherit(child)
			}
			out[i][j] = child
		}
	}
	return out, nil
}

func (a *analysis) call(n *node) (*node, *Error) {
	result := &node{kind: n.kind, text: n.text, position: n.position}
	var err *Error
	if result.children, err = a.all(n.children, result); err != nil {
		return nil, err
	}
	result.procedure, err = a.process(n.procedure)
	return result, err
}

func (a *analysis) lambda(n *node) (*node, *Error) {
	body, err := a.process(n.body)
	if err != nil {
		return nil, err
	}
	return &node{kind: lambdaNode, children: n.children, signature: n.signature, position: n.position,
		body: tailCall(body)}, nil
}

func (a *analysis) conditional(n *node) (*node, *Error) {
	result := &node{kind: conditionNode, position: n.position}
	parts := []*node{n.condition, n.then}
	if n.otherwise != nil {
		parts = append(parts, n.otherwise)
	}
	parts, err := a.all(parts, result)
	if err != nil {
		return nil, err
	}
	result.condition, result.then = parts[0], parts[1]
	if n.otherwise != nil {
		result.otherwise = parts[2]
	}
	return result, nil
}

func (a *analysis) transform(n *node) (*node, *Error) {
	result := &node{kind: transformNode, position: n.position}
	var err *Error
	if result.pattern, err = a.process(n.pattern); err != nil {
		return nil, err
	}
	if result.update, err = a.process(n.update); err != nil {
		return nil, err
	}
	if n.remove != nil {
		result.remove, err = a.process(n.remove)
	}
	return result, err
}

func (a *analysis) block(n *node) (*node, *Error) {
	result := &node{kind: blockNode, position: n.position}
	var err *Error
	if result.children, err = a.all(n.children, result); err != nil {
		return nil, err
	}
	for _, part := range result.children {
		if part.consArray || part.kind == pathNode && part.steps[0].consArray {
			result.consArray = true
		}
	}
	return result, nil
}

// tailCall replaces calls in tail position by thunks. The loop in the caller runs a thunk without growing the
// stack.
func tailCall(n *node) *node {
	switch n.kind {
	case functionNode:
		if n.predicates == nil {
			return &node{kind: lambdaNode, thunk: true, position: n.position, body: n}
		}
	case conditionNode:
		n.then = tailCall(n.then)
		if n.otherwise != nil {
			n.otherwise = tailCall(n.otherwise)
		}
	case blockNode:
		if last := len(n.children) - 1; last >= 0 {
			n.children[last] = tailCall(n.children[last])
		}
	default: // evaluated in place
	}
	return n
}
