package jsonata

import "math"

// path evaluates steps one after the other, each on every item of the previous step's result. The first step that
// binds a focus, a position or a parent turns the items into tuples; they stay tuples from then on.
func (ev *evaluator) path(n *node, input value, f *frame) (value, *Error) {
	items, done, err := ev.startPath(n, input, f)
	if err != nil || done == len(n.steps) && !isArray(items) {
		return items, err
	}
	result := items
	var tuples *array
	streaming := false
	for i := done; i < len(n.steps); i++ {
		step := n.steps[i]
		streaming = streaming || step.tuple
		switch {
		case i == 0 && step.consArray:
			result, err = ev.eval(step, items, f)
		case streaming:
			tuples, err = ev.tupleStep(step, items, tuples, f)
		default:
			result, err = ev.step(step, items, f, i == len(n.steps)-1)
		}
		if err != nil {
			return nil, err
		}
		if !streaming && isEmpty(result) {
			break
		}
		if step.focus == "" {
			items = result
		}
	}
	if streaming {
		result = tuples
		if !n.tuple {
			result = contexts(tuples)
		}
	}
	if n.keepSingleton {
		if result, err = keepSingleton(result); err != nil {
			return nil, err
		}
	}
	if n.group == nil {
		return result, nil
	}
	if streaming {
		result = tuples
	}
	return ev.group(n.group, result, f)
}

// startPath evaluates the leading plain steps of a path. It returns the items to continue with, and the number of
// steps done. If there is nothing left to iterate over, all steps count as done. A result that is not an array is
// the result of the whole path.
func (ev *evaluator) startPath(n *node, input value, f *frame) (items value, done int, err *Error) {
	a, ok := input.(*array)
	switch {
	case ok && n.steps[0].kind != variableNode:
		return a, 0, nil
	case ok || n.plain == 0:
		return newSequence(input), 0, nil
	}
	if items, done, err = ev.plainSteps(n, input, f); err != nil {
		return nil, 0, err
	}
	if isArray(items) {
		if isEmpty(items) {
			done = len(n.steps)
		}
		return items, done, nil
	}
	if done < len(n.steps) || n.keepSingleton || n.keepArray || n.group != nil {
		items = newSequence(items)
	}
	return items, done, nil
}

// contexts returns the items of a tuple stream without their bindings.
func contexts(tuples *array) *array {
	result := &array{sequence: true, items: make([]value, 0, tuples.len())}
	for _, item := range tuples.list() {
		result.push(context(item))
	}
	return result
}

func context(item value) value {
	if t, ok := item.(*tuple); ok {
		return t.context
	}
	return nil
}

// keepSingleton marks the result of a path with an empty predicate: it stays an array.
func keepSingleton(result value) (value, *Error) {
	a, ok := result.(*array)
	switch {
	case result == nil:
		return nil, runtimeError("Cannot set properties of undefined (setting 'keepSingleton')")
	case !ok:
		return result, nil
	case a.cons && !a.sequence:
		a = newSequence(a)
	}
	a.keepSingleton = true
	return a, nil
}

func isEmpty(v value) bool {
	switch v := v.(type) {
	case nil:
		return true
	case *array:
		return v.len() == 0
	case string:
		return v == ""
	default:
		return false
	}
}

// listOf returns the values that a step iterates over: the items of an array, the code units of a string, or nothing
// for other values.
func (ev *evaluator) listOf(v value) ([]value, *Error) {
	switch v := v.(type) {
	case *array:
		return v.list(), nil
	case string:
		if err := ev.budget.spendItems(len(v)); err != nil {
			return nil, err
		}
		var list []value
		for _, u := range units(v) {
			list = append(list, fromUnits([]uint16{u}))
		}
		return list, nil
	default:
		return nil, nil
	}
}

// step evaluates one step on every item and flattens the results into one sequence.
func (ev *evaluator) step(step *node, items value, f *frame, last bool) (value, *Error) {
	if step.kind == sortNode {
		sorted, err := ev.sortStep(step, items, f)
		if err != nil || step.stages == nil {
			return sorted, err
		}
		return ev.applyStages(step.stages, sorted, f)
	}
	list, err := ev.listOf(items)
	if err != nil {
		return nil, err
	}
	var results []value
	for _, item := range list {
		v, err := ev.eval(step, item, f)
		for i := range step.stages {
			if err != nil {
				return nil, err
			}
			v, err = ev.filter(step.stages[i].filter, v, f)
		}
		if err != nil {
			return nil, err
		}
		if v != nil {
			results = append(results, v)
		}
	}
	if last && len(results) == 1 {
		if a, ok := results[0].(*array); ok && !a.sequence {
			return a, nil
		}
	}
	sequence := newSequence()
	for _, v := range results {
		if a, ok := v.(*array); ok && !a.cons {
			if sequence.items, err = ev.budget.extend(sequence.items, a); err != nil {
				return nil, err
			}
		} else {
			sequence.push(v)
		}
	}
	return sequence, ev.budget.spendItems(len(sequence.items))
}

// applyStages applies the stages of a step to its result: filters, and bindings of positions.
func (ev *evaluator) applyStages(stages []stage, input value, f *frame) (value, *Error) {
	for i := range stages {
		if stages[i].filter != nil {
			var err *Error
			if input, err = ev.filter(stages[i].filter, input, f); err != nil {
				return nil, err
			}
			continue
		}
		list, err := ev.listOf(input)
		if err != nil {
			return nil, err
		}
		for at, item := range list {
			if t, ok := item.(*tuple); ok {
				t.set(stages[i].variable, float64(at))
			}
		}
	}
	return input, nil
}

// tupleStep evaluates one step on every tuple.
func (ev *evaluator) tupleStep(step *node, items value, tuples *array, f *frame) (*array, *Error) {
	if step.kind == sortNode {
		return ev.sortTuples(step, items, tuples, f)
	}
	if tuples == nil {
		tuples = newArray(nil)
		list, err := ev.listOf(items)
		if err != nil {
			return nil, err
		}
		for _, item := range list {
			tuples.push(&tuple{context: item})
		}
	}
	result := &array{sequence: true, tuples: true}
	for _, item := range tuples.list() {
		t, ok := item.(*tuple)
		if !ok {
			t = &tuple{context: context(item)}
		}
		v, err := ev.eval(step, t.context, f.of(t))
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		list, isList := v.(*array)
		if !isList {
			list = newArray([]value{v})
		}
		if err := ev.budget.spend(list.len() * (1 + len(t.names))); err != nil {
			return nil, err
		}
		for at, bound := range list.list() {
			result.push(step.extend(t, bound, at, list.tuples))
		}
	}
	return ev.tupleStages(step, result, f)
}

func (ev *evaluator) tupleStages(step *node, result value, f *frame) (*array, *Error) {
	if step.stages != nil {
		var err *Error
		if result, err = ev.applyStages(step.stages, result, f); err != nil {
			return nil, err
		}
	}
	list, ok := result.(*array)
	if !ok {
		list = newSequence(result)
	}
	return list, nil
}

// extend returns tuple t with the bindings of a step added. They come from the item and its position at in the
// step's result, or from the item itself if it is a tuple.
func (n *node) extend(t *tuple, item value, at int, isTuple bool) *tuple {
	next := t.clone()
	if inner, ok := item.(*tuple); ok && isTuple {
		next.merge(inner)
		return next
	}
	if n.focus != "" {
		next.set(n.focus, item)
	} else {
		next.context = item
	}
	if n.index != "" {
		next.set(n.index, float64(at))
	}
	if n.ancestor != nil {
		next.set(n.ancestor.label, t.context)
	}
	return next
}

// filter applies a predicate. A number or a list of numbers selects positions; any other value is a condition.
func (ev *evaluator) filter(predicate *node, input value, f *frame) (value, *Error) {
	list, ok := input.(*array)
	if !ok {
		list = newSequence(input)
	}
	results := &array{sequence: true, tuples: list.tuples}
	if predicate.kind == numberNode {
		number, _ := predicate.literal.(float64)
		item := list.atPosition(number)
		if inner, ok := item.(*array); ok {
			return inner, nil
		}
		if item != nil {
			results.push(item)
		}
		return results, nil
	}
	for i, item := range list.list() {
		around, frame := item, f
		if list.tuples {
			around = context(item)
			if t, ok := item.(*tuple); ok {
				frame = f.of(t)
			}
		}
		v, err := ev.eval(predicate, around, frame)
		if err != nil {
			return nil, err
		}
		times, err := ev.selected(v, i, list.len())
		if err != nil {
			return nil, err
		}
		for range times {
			results.push(item)
		}
	}
	return results, nil
}

func (a *array) atPosition(number float64) value {
	at := math.Floor(number)
	if at < 0 {
		at += float64(a.len())
	}
	if at >= 0 && at < float64(a.len()) {
		return a.list()[int(at)]
	}
	return nil
}

// selected returns how often a predicate's value selects the item at position i of length.
func (ev *evaluator) selected(v value, i, length int) (int, *Error) {
	if a, ok := v.(*array); ok {
		if err := ev.budget.spend(a.len() / bytesPerStep); err != nil {
			return 0, err
		}
	}
	positions, ok, err := positionList(v)
	if err != nil {
		return 0, err
	}
	if !ok {
		yes, err := ev.budget.truth(v)
		if err != nil || !yes {
			return 0, err
		}
		return 1, nil
	}
	times := 0
	for _, p := range positions {
		at := math.Floor(p)
		if at < 0 {
			at += float64(length)
		}
		if at == float64(i) {
			times++
		}
	}
	return times, nil
}

// positionList returns the numbers of a predicate's value: a single number, or an array that contains only numbers.
// The second result is false for any other value.
func positionList(v value) ([]float64, bool, *Error) {
	number, ok, err := numeric(v)
	if err != nil || ok {
		return []float64{number}, ok, err
	}
	a, ok := v.(*array)
	if !ok {
		return nil, false, nil
	}
	all := true
	positions := make([]float64, 0, a.len())
	for _, item := range a.list() {
		number, ok, err := numeric(item)
		if err != nil {
			return nil, false, err
		}
		all = all && ok
		positions = append(positions, number)
	}
	return positions, all, nil
}
