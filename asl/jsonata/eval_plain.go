package jsonata

// markPlain counts the leading plain steps of a path, which are evaluated without creating a sequence for each.
func (n *node) markPlain() {
	n.plain = 0
	for i, step := range n.steps {
		if step.kind != nameNode && (i > 0 || step.kind != variableNode || step.text == "") || !step.bare() {
			return
		}
		n.plain++
	}
}

// bare reports whether nothing is attached to a step.
func (n *node) bare() bool {
	return n.predicates == nil && n.stages == nil && n.group == nil && !n.tuple && !n.keepArray && !n.consArray &&
		n.focus == "" && n.index == "" && n.ancestor == nil && n.seeking == nil
}

// plainSteps evaluates the plain steps of a path on one item. It stops when a step produces an array. It returns
// the last item or that array, and the number of steps done.
func (ev *evaluator) plainSteps(n *node, item value, f *frame) (value, int, *Error) {
	if err := ev.budget.nest(ev.depth + 1); err != nil {
		return nil, 0, err
	}
	for i := 0; i < n.plain; i++ {
		if err := ev.budget.spend(1); err != nil {
			return nil, 0, err
		}
		step := n.steps[i]
		switch {
		case step.kind == nameNode:
			item = ev.plainKey(item, step.text)
		case n.plain > 1 && ev.member(step.text, n.steps[1].text, f, &item):
			i++
		default:
			item = ev.lookup(f, step.text)
		}
		if item == nil {
			return newSequence(), 0, nil
		}
		if a, ok := item.(*array); ok {
			result, err := ev.flattened(a, i == len(n.steps)-1)
			return result, i + 1, err
		}
	}
	return item, n.plain, nil
}

// plainKey returns the member key of an item. It does not cache a member that it converts from a JSON tree.
func (ev *evaluator) plainKey(item value, key string) value {
	o, ok := item.(*object)
	if !ok || o.source == nil || o.vals != nil {
		return ev.budget.lookupKey(item, key)
	}
	if v, ok := o.source.Get(key); ok {
		return fromJSON(v)
	}
	return nil
}

// flattened converts an array to the result of a step on one item.
func (ev *evaluator) flattened(a *array, last bool) (value, *Error) {
	if last && !a.sequence {
		return a, nil
	}
	if a.cons {
		return newSequence(a), nil
	}
	sequence := newSequence()
	var err *Error
	sequence.items, err = ev.budget.extend(nil, a)
	return sequence, err
}

// member reads a member of one of the Env's variables into item. It returns false if the Env does not support that,
// or if the expression itself binds a variable of that name.
func (ev *evaluator) member(variable, name string, f *frame, item *value) bool {
	if ev.members == nil {
		return false
	}
	if _, bound := f.lookup(variable); bound {
		return false
	}
	v, exists, known := ev.members.Member(variable, name)
	if !known {
		return false
	}
	*item = nil
	if exists {
		*item = fromJSON(v)
	}
	return true
}

func isArray(v value) bool {
	_, ok := v.(*array)
	return ok
}
