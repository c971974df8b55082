package jsonata

import (
	"math"
	"time"
)

// evaluator is the state of one evaluation.
type evaluator struct {
	env      Env
	members  MemberEnv // the Env, if it is one
	builtins map[string]*native
	limits   Limits
	names    bool
	budget   budget
	depth    int
	top      frame
	external frame // values received from the Env
	time     time.Time
	timeRead bool
}

func newEvaluator(x *Expression, env Env) *evaluator {
	ev := &evaluator{env: env, builtins: x.builtins, limits: x.limits, names: x.names}
	ev.budget = budget{steps: x.limits.Steps, depth: x.limits.Depth, memory: x.limits.Memory}
	ev.members, _ = env.(MemberEnv)
	if i, ok := env.(interface{ Err() error }); ok {
		ev.budget.interrupted = i.Err
	}
	return ev
}

func (ev *evaluator) now() time.Time {
	if !ev.timeRead {
		ev.time, ev.timeRead = ev.env.Now().UTC(), true
	}
	return ev.time
}

// lookup returns the value of a variable. It searches the variables of the expression, then the Env, then the
// built-in functions.
func (ev *evaluator) lookup(f *frame, name string) value {
	if v, ok := f.lookup(name); ok {
		return v
	}
	if v, ok := ev.external.lookup(name); ok {
		return v
	}
	var v value
	if tree, ok := ev.env.Lookup(name); ok {
		v = fromJSON(tree)
	} else if fn, ok := ev.builtins[name]; ok {
		v = fn
	}
	ev.external.bind(name, v)
	return v
}

// eval evaluates a node and its attachments, and collapses the resulting sequence.
func (ev *evaluator) eval(n *node, input value, f *frame) (value, *Error) {
	if err := ev.budget.spend(1); err != nil {
		return nil, err
	}
	ev.depth++
	if err := ev.budget.nest(ev.depth); err != nil {
		return nil, err
	}
	result, err := ev.dispatch(n, input, f)
	for i := range n.predicates {
		if err != nil {
			return nil, err
		}
		result, err = ev.filter(n.predicates[i].filter, result, f)
	}
	if err == nil && n.group != nil && n.kind != pathNode {
		result, err = ev.group(n.group, result, f)
	}
	if err != nil {
		return nil, err
	}
	ev.depth--
	if s, ok := result.(*array); ok && s.sequence && !s.tuples {
		return s.collapse(n.keepArray), nil
	}
	return result, nil
}

// collapse returns the value of an expression whose result is a sequence. An empty sequence is nothing, and a
// sequence of one element is that element, unless keep is set. Any other sequence stays as it is.
func (a *array) collapse(keep bool) value {
	if keep {
		a.keepSingleton = true
	}
	switch n := a.len(); {
	case n == 0:
		return nil
	case n == 1 && !a.keepSingleton:
		return a.list()[0]
	default:
		return a
	}
}

func (ev *evaluator) dispatch(n *node, input value, f *frame) (value, *Error) {
	switch n.kind {
	case pathNode:
		return ev.path(n, input, f)
	case binaryNode:
		return ev.binary(n, input, f)
	case unaryNode:
		return ev.unary(n, input, f)
	case nameNode:
		return ev.budget.lookupKey(input, n.text), nil
	case stringNode, numberNode, valueNode:
		return n.literal, nil
	case wildcardNode:
		return ev.budget.wildcard(input), nil
	case descendantNode:
		return ev.descendants(input)
	case parentNode:
		return ev.lookup(f, n.slot.label), nil
	case conditionNode:
		return ev.condition(n, input, f)
	case blockNode:
		return ev.block(n, input, f)
	case bindNode:
		return ev.bind(n, input, f)
	case regexNode:
		return &matcher{re: n.regex, source: n.text, position: n.position}, nil
	case functionNode:
		return ev.call(n, input, f, nil)
	case variableNode:
		return ev.variable(n, input, f), nil
	case lambdaNode:
		return newLambda(n, input, f), nil
	case partialNode:
		return ev.partial(n, input, f)
	case applyNode:
		return ev.chain(n, input, f)
	case transformNode:
		return ev.transform(n, f), nil
	default:
		return nil, nil
	}
}

func (ev *evaluator) variable(n *node, input value, f *frame) value {
	if n.text != "" {
		return ev.lookup(f, n.text)
	}
	if a, ok := input.(*array); ok && a.outer {
		return a.items[0]
	}
	return input
}

func (ev *evaluator) condition(n *node, input value, f *frame) (value, *Error) {
	condition, err := ev.eval(n.condition, input, f)
	if err != nil {
		return nil, err
	}
	yes, err := ev.budget.truth(condition)
	switch {
	case err != nil:
		return nil, err
	case yes:
		return ev.eval(n.then, input, f)
	case n.otherwise != nil:
		return ev.eval(n.otherwise, input, f)
	default:
		return nil, nil
	}
}

func (ev *evaluator) block(n *node, input value, f *frame) (value, *Error) {
	inner := &frame{parent: f}
	var result value
	for _, child := range n.children {
		var err *Error
		if result, err = ev.eval(child, input, inner); err != nil {
			return nil, err
		}
	}
	return result, nil
}

func (ev *evaluator) bind(n *node, input value, f *frame) (value, *Error) {
	v, err := ev.eval(n.rhs, input, f)
	if err != nil {
		return nil, err
	}
	f.bind(n.lhs.text, v)
	return v, nil
}

// unary evaluates a negation or a constructor.
func (ev *evaluator) unary(n *node, input value, f *frame) (value, *Error) {
	switch n.text {
	case "[":
		return ev.arrayConstructor(n, input, f)
	case "{":
		return ev.group(&grouping{pairs: n.pairs, position: n.position}, input, f)
	}
	v, err := ev.eval(n.lhs, input, f)
	if err != nil || v == nil {
		return nil, err
	}
	number, ok, err := numeric(v)
	if err != nil {
		return nil, err
	}
	if !ok {
		err := &Error{Code: "D1002", Position: n.position, value: v}
		err.setToken(n.text)
		return nil, err
	}
	return -number, nil
}

func (ev *evaluator) arrayConstructor(n *node, input value, f *frame) (value, *Error) {
	result := &array{items: make([]value, 0, len(n.children)), cons: n.consArray}
	for _, child := range n.children {
		v, err := ev.eval(child, input, f)
		if err != nil {
			return nil, err
		}
		switch {
		case v == nil:
		case child.kind == unaryNode && child.text == "[":
			result.push(v)
		default:
			var err *Error
			if list, ok := v.(*array); ok && len(result.items) == 0 {
				// Sharing the elements is safe: they never change, and the slice's capacity prevents appends from
				// overwriting them.
				items := list.list()
				result.items = items[:len(items):len(items)]
				continue
			}
			if result.items, err = ev.budget.extend(result.items, v); err != nil {
				return nil, err
			}
		}
	}
	return result, ev.budget.spendItems(len(result.items))
}

// lookupKey returns an object's member named key. For an array, it returns those members of all objects in it.
func (b *budget) lookupKey(input value, key string) value {
	if !b.tick() {
		return nil
	}
	switch input := input.(type) {
	case *array:
		result := newSequence()
		for _, item := range input.list() {
			v := b.lookupKey(item, key)
			if v == nil {
				continue
			}
			var ok bool
			if result.items, ok = b.extendQuietly(result.items, v); !ok {
				return nil
			}
		}
		return result
	case *object:
		return input.get(key)
	case *tuple:
		return input.object().get(key)
	default:
		return nil
	}
}

// wildcard returns the values of all members. Arrays among them are flattened.
func (b *budget) wildcard(input value) value {
	if a, ok := input.(*array); ok && a.outer && len(a.items) > 0 {
		input = a.items[0]
	}
	results := newSequence()
	visit := func(v value) {
		if a, ok := v.(*array); ok {
			results = newArray(b.flatten(a, results.items))
		} else {
			results.push(v)
		}
	}
	switch input := input.(type) {
	case *array:
		if b.ticks(input.len() / itemsBuiltPerStep) {
			for _, item := range input.list() {
				visit(item)
			}
		}
	case *object:
		if b.ticks(input.len() / itemsBuiltPerStep) {
			for i := range input.len() {
				visit(input.at(i))
			}
		}
	}
	return results
}

func (b *budget) flatten(a *array, into []value) []value {
	for _, item := range a.list() {
		if !b.tick() {
			break
		}
		if inner, ok := item.(*array); ok {
			into = b.flatten(inner, into)
		} else {
			into = append(into, item)
		}
	}
	return into
}

func (ev *evaluator) descendants(input value) (value, *Error) {
	if input == nil {
		return nil, nil
	}
	result := newSequence()
	if err := ev.descend(input, result); err != nil {
		return nil, err
	}
	if len(result.items) == 1 {
		return result.items[0], nil
	}
	return result, nil
}

func (ev *evaluator) descend(input value, result *array) *Error {
	if err := ev.budget.spend(1); err != nil {
		return err
	}
	if a, ok := input.(*array); ok {
		for _, item := range a.list() {
			if err := ev.descend(item, result); err != nil {
				return err
			}
		}
		return nil
	}
	result.push(input)
	if o, ok := input.(*object); ok {
		for i := range o.len() {
			if err := ev.descend(o.at(i), result); err != nil {
				return err
			}
		}
	}
	return nil
}

// truth returns the effective boolean value; undefined is false.
func (b *budget) truth(v value) (bool, *Error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case string:
		return v != "", nil
	case float64:
		if math.IsNaN(v) {
			return false, nil
		}
		_, _, err := numeric(v)
		return v != 0, err
	case *array:
		return b.anyTrue(v.list())
	case *object:
		return v.len() > 0, nil
	case *tuple, *lambda, *native:
		return true, nil
	default:
		return false, nil
	}
}

func (b *budget) anyTrue(items []value) (bool, *Error) {
	found := false
	for _, item := range items {
		if !b.tick() {
			break
		}
		yes, err := b.truth(item)
		if err != nil {
			return false, err
		}
		found = found || yes
	}
	return found, nil
}
