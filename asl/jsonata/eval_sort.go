package jsonata

// sortStep orders the items by the terms of an order-by clause.
func (ev *evaluator) sortStep(step *node, items value, f *frame) (value, *Error) {
	list, ok := items.(*array)
	if !ok {
		return items, nil
	}
	return ev.sorted(list, func(a, b value) (bool, *Error) { return ev.after(step, a, b, list.tuples, f) })
}

func (ev *evaluator) sortTuples(step *node, items value, tuples *array, f *frame) (*array, *Error) {
	if tuples != nil {
		sorted, err := ev.sortStep(step, tuples, f)
		if err != nil {
			return nil, err
		}
		return ev.tupleStages(step, sorted, f)
	}
	sorted, err := ev.sortStep(step, items, f)
	if err != nil {
		return nil, err
	}
	result := &array{sequence: true, tuples: true}
	list, err := ev.listOf(sorted)
	if err != nil {
		return nil, err
	}
	for i, item := range list {
		t := &tuple{context: item}
		t.set(step.index, float64(i))
		result.push(t)
	}
	return ev.tupleStages(step, result, f)
}

// after reports whether a sorts after b.
func (ev *evaluator) after(step *node, a, b value, tuples bool, f *frame) (bool, *Error) {
	for _, term := range step.terms {
		left, err := ev.sortKey(term.expression, a, tuples, f)
		if err != nil {
			return false, err
		}
		right, err := ev.sortKey(term.expression, b, tuples, f)
		if err != nil {
			return false, err
		}
		order, err := ev.order(step, left, right)
		if err != nil {
			return false, err
		}
		if order == 0 {
			continue
		}
		if term.descending && left != nil && right != nil {
			order = -order
		}
		return order > 0, nil
	}
	return false, nil
}

func (ev *evaluator) sortKey(n *node, item value, tuples bool, f *frame) (value, *Error) {
	if t, ok := item.(*tuple); ok && tuples {
		return ev.eval(n, t.context, f.of(t))
	}
	return ev.eval(n, item, f)
}

// order compares two sort keys; undefined comes last.
func (ev *evaluator) order(n *node, left, right value) (int, *Error) {
	switch {
	case left == nil && right == nil:
		return 0, nil
	case left == nil:
		return 1, nil
	case right == nil:
		return -1, nil
	case !isOrdered(left):
		return 0, &Error{Code: "T2008", Position: n.position, value: left}
	case !isOrdered(right):
		return 0, &Error{Code: "T2008", Position: n.position, value: right}
	}
	a, aNumber := left.(float64)
	b, bNumber := right.(float64)
	switch {
	case aNumber != bNumber:
		return 0, &Error{Code: "T2007", Position: n.position, value: left, value2: right}
	case !aNumber:
		return compareStrings(left, right),
			ev.budget.spend(min(len(textOf(left)), len(textOf(right))) / bytesReadPerStep)
	case a == b:
		return 0, nil
	case a < b:
		return -1, nil
	default:
		return 1, nil
	}
}

// sorted returns the list in order, by a stable merge sort. The function after reports whether its first argument
// sorts after its second.
func (ev *evaluator) sorted(list *array, after func(a, b value) (bool, *Error)) (*array, *Error) {
	if list.len() <= 1 {
		return list, nil
	}
	items, err := ev.mergeSort(list.list(), after)
	if err != nil {
		return nil, err
	}
	return newArray(items), nil
}

func (ev *evaluator) mergeSort(items []value, after func(a, b value) (bool, *Error)) ([]value, *Error) {
	if len(items) <= 1 {
		return items, nil
	}
	if err := ev.budget.spend(len(items)); err != nil {
		return nil, err
	}
	middle := len(items) / 2
	left, err := ev.mergeSort(items[:middle], after)
	if err != nil {
		return nil, err
	}
	right, err := ev.mergeSort(items[middle:], after)
	if err != nil {
		return nil, err
	}
	merged := make([]value, 0, len(items))
	for len(left) > 0 && len(right) > 0 {
		swap, err := after(left[0], right[0])
		if err != nil {
			return nil, err
		}
		if swap {
			merged, right = append(merged, right[0]), right[1:]
		} else {
			merged, left = append(merged, left[0]), left[1:]
		}
	}
	return append(append(merged, left...), right...), nil
}
