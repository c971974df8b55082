package jsonata

// group holds the items gathered under one key.
type group struct {
	data value
	pair int
	// owned is true if data is an array created here.
	owned bool
}

// add appends an item in the same way as $append.
func (g *group) add(item value, b *budget) *Error {
	var err *Error
	switch {
	case g.data == nil:
		g.data = item
	case item == nil:
	case g.owned:
		list, _ := g.data.(*array)
		list.items, err = b.extend(list.items, item)
	default:
		list := newArray(nil)
		if list.items, err = b.extend(nil, g.data); err != nil {
			return err
		}
		list.items, err = b.extend(list.items, item)
		g.data, g.owned = list, true
	}
	return err
}

// group builds an object from the items. Each item is gathered under the keys that the pairs give it. The value of
// a pair is then evaluated once per key, for all items gathered there.
func (ev *evaluator) group(n *grouping, input value, f *frame) (value, *Error) {
	list, ok := input.(*array)
	if !ok {
		list = newSequence(input)
	}
	items := list.list()
	if len(items) == 0 {
		items = []value{nil}
	}
	groups := newObject(len(n.pairs))
	for _, item := range items {
		if err := ev.gather(n, groups, item, list.tuples, f); err != nil {
			return nil, err
		}
	}
	result := newObject(groups.len())
	for i, key := range groups.names() {
		g, _ := groups.at(i).(*group)
		around, frame := g.data, f
		if list.tuples {
			t, err := ev.reduce(g.data)
			if err != nil {
				return nil, err
			}
			around, frame = t.context, f.of(t)
		}
		v, err := ev.eval(n.pairs[g.pair][1], around, frame)
		if err != nil {
			return nil, err
		}
		if v != nil {
			result.set(key, v)
		}
	}
	return result, nil
}

// gather evaluates the keys for one item, and adds the item to their groups.
func (ev *evaluator) gather(n *grouping, groups *object, item value, tuples bool, f *frame) *Error {
	around, frame := item, f
	if tuples {
		t, ok := item.(*tuple)
		if !ok {
			return runtimeError("Cannot read properties of undefined (reading '@')")
		}
		around, frame = t.context, f.of(t)
	}
	for i, pair := range n.pairs {
		v, err := ev.eval(pair[0], around, frame)
		if err != nil {
			return err
		}
		key, ok := v.(string)
		switch {
		case v == nil:
			continue
		case !ok:
			return &Error{Code: "T1003", Position: n.position, value: v}
		}
		g, ok := groups.get(key).(*group)
		switch {
		case !ok:
			groups.set(key, &group{data: item, pair: i})
		case g.pair != i:
			return &Error{Code: "D1009", Position: n.position, value: key}
		default:
			if err := g.add(item, &ev.budget); err != nil {
				return err
			}
		}
	}
	return nil
}

// reduce merges several tuples into one. Bindings of the same name are appended to each other.
func (ev *evaluator) reduce(data value) (*tuple, *Error) {
	list, ok := data.(*array)
	if !ok {
		t, _ := data.(*tuple)
		return t, nil
	}
	first, _ := list.items[0].(*tuple)
	contexts := group{data: first.context}
	bound := make([]group, len(first.names))
	for i := range first.names {
		bound[i].data = first.vals[i]
	}
	for _, item := range list.items[1:] {
		t, _ := item.(*tuple)
		if err := contexts.add(t.context, &ev.budget); err != nil {
			return nil, err
		}
		for i, name := range first.names {
			if err := bound[i].add(t.get(name), &ev.budget); err != nil {
				return nil, err
			}
		}
	}
	result := &tuple{context: contexts.data}
	for i, name := range first.names {
		result.set(name, bound[i].data)
	}
	return result, nil
}
