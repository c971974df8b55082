package jsonata

// path joins the steps on both sides of a dot.
func (a *analysis) path(n *node) (*node, *Error) {
	left, right, err := a.operands(n)
	if err != nil {
		return nil, err
	}
	result := left
	if left.kind != pathNode {
		result = &node{kind: pathNode, steps: []*node{left}}
	}
	if left.kind == parentNode {
		result.seeking = []*slot{left.slot}
	}
	if right.kind == pathNode {
		result.steps = append(result.steps, right.steps...)
	} else {
		if right.predicates != nil {
			right.stages, right.predicates = right.predicates, nil
		}
		result.steps = append(result.steps, right)
	}
	for _, step := range result.steps {
		switch step.kind {
		case numberNode, valueNode:
			return nil, &Error{Code: "S0213", Position: step.position, value: step.literal}
		case stringNode:
			step.kind = nameNode
			step.text, _ = step.literal.(string)
		default: // every other node is already a single step
		}
		if step.keepArray {
			result.keepSingleton = true
		}
	}
	for _, step := range []*node{result.steps[0], result.lastStep()} {
		if step.kind == unaryNode && step.text == "[" {
			step.consArray = true
		}
	}
	return result, a.resolve(result)
}

func (n *node) lastStep() *node { return n.steps[len(n.steps)-1] }

// filter attaches a predicate to its step.
func (a *analysis) filter(n *node) (*node, *Error) {
	result, err := a.process(n.lhs)
	if err != nil {
		return nil, err
	}
	step := result
	if result.kind == pathNode {
		step = result.lastStep()
	}
	if step.group != nil {
		return nil, &Error{Code: "S0209", Position: n.position}
	}
	predicate, err := a.process(n.rhs)
	if err != nil {
		return nil, err
	}
	if predicate.seeking != nil {
		for _, s := range predicate.seeking {
			if s.level == 1 {
				if err := seek(step, s); err != nil {
					return nil, err
				}
			} else {
				s.level--
			}
		}
		step.inherit(predicate)
	}
	filter := stage{filter: predicate}
	if result.kind == pathNode {
		step.stages = append(step.stages, filter)
	} else {
		step.predicates = append(step.predicates, filter)
	}
	return result, nil
}

func (a *analysis) grouping(n *node) (*node, *Error) {
	result, err := a.process(n.lhs)
	if err != nil {
		return nil, err
	}
	if result.group != nil {
		return nil, &Error{Code: "S0210", Position: n.position}
	}
	pairs, err := a.pairs(n.pairs, nil)
	if err != nil {
		return nil, err
	}
	result.group = &grouping{pairs: pairs, position: n.position}
	return result, nil
}

func (a *analysis) orderBy(n *node) (*node, *Error) {
	result, err := a.process(n.lhs)
	if err != nil {
		return nil, err
	}
	if result.kind != pathNode {
		result = &node{kind: pathNode, steps: []*node{result}}
	}
	step := &node{kind: sortNode, position: n.position}
	for _, term := range n.terms {
		expression, err := a.process(term.expression)
		if err != nil {
			return nil, err
		}
		step.inherit(expression)
		step.terms = append(step.terms, sortTerm{descending: term.descending, expression: expression})
	}
	result.steps = append(result.steps, step)
	return result, a.resolve(result)
}

// focus binds the items of a step to a variable: step@$variable.
func (a *analysis) focus(n *node) (*node, *Error) {
	result, err := a.process(n.lhs)
	if err != nil {
		return nil, err
	}
	step := result
	if result.kind == pathNode {
		step = result.lastStep()
	}
	if step.stages != nil || step.predicates != nil {
		return nil, &Error{Code: "S0215", Position: n.position}
	}
	if step.kind == sortNode {
		return nil, &Error{Code: "S0216", Position: n.position}
	}
	if n.keepArray {
		step.keepArray = true
	}
	step.focus = n.rhs.text
	step.tuple = true
	return result, nil
}

// index binds the positions of a step's items to a variable: step#$variable.
func (a *analysis) index(n *node) (*node, *Error) {
	result, err := a.process(n.lhs)
	if err != nil {
		return nil, err
	}
	step := result
	if result.kind == pathNode {
		step = result.lastStep()
	} else {
		result = &node{kind: pathNode, steps: []*node{result}}
		if step.predicates != nil {
			step.stages, step.predicates = step.predicates, nil
		}
	}
	if step.stages == nil {
		step.index = n.rhs.text
	} else {
		step.stages = append(step.stages, stage{variable: n.rhs.text})
	}
	step.tuple = true
	return result, nil
}

// inherit takes over the parent operators that a child could not resolve.
func (n *node) inherit(child *node) {
	if child.seeking == nil && child.kind != parentNode {
		return
	}
	slots := child.seeking
	if child.kind == parentNode {
		slots = append(slots, child.slot)
		child.seeking = slots
	}
	n.seeking = append(n.seeking, slots...)
}

// resolve finds the steps of a path that the parent operators in its last step refer to.
func (a *analysis) resolve(path *node) *Error {
	last := path.lastStep()
	slots := last.seeking
	if last.kind == parentNode {
		slots = append(slots, last.slot)
	}
	for _, s := range slots {
		at := len(path.steps) - 2
		for s.level > 0 {
			if at < 0 {
				path.seeking = append(path.seeking, s)
				break
			}
			step := path.steps[at]
			at--
			for at >= 0 && step.focus != "" && path.steps[at].focus != "" {
				step = path.steps[at]
				at--
			}
			if err := seek(step, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// seek resolves a parent operator if it refers to step n. Otherwise it counts the step.
func seek(n *node, s *slot) *Error {
	switch n.kind {
	case nameNode, wildcardNode:
		s.level--
		if s.level == 0 {
			if n.ancestor != nil {
				s.label = n.ancestor.label
			}
			n.ancestor = s
			n.tuple = true
		}
	case parentNode:
		s.level++
	case blockNode:
		if len(n.children) > 0 {
			n.tuple = true
			return seek(n.children[len(n.children)-1], s)
		}
	case pathNode:
		n.tuple = true
		for i := len(n.steps) - 1; i >= 0; i-- {
			if err := seek(n.steps[i], s); err != nil {
				return err
			}
			if s.level <= 0 {
				break
			}
		}
	default:
		return noParent(n)
	}
	return nil
}

func noParent(n *node) *Error {
	err := &Error{Code: "S0217", Position: n.position}
	err.setToken(kindNames[n.kind])
	return err
}
