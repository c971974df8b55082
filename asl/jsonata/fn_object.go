package jsonata

var objectFunctions = map[string]*native{
	"keys": define("<x-:a<s>>", 1, func(c *call, args []value) (value,
		*Error) {
		return c.ev.budget.keys(argument(args, 0)), nil
	}),
	"lookup": define("<x-s:x>", 2, func(c *call, args []value) (value, *Error) {
		key, ok := argument(args, 1).(string)
		if !ok {
			key = "undefined" // as JavaScript reads it
		}
		return c.ev.budget.lookupKey(argument(args, 0), key), nil
	}),
	"spread": define("<x-:a<o>>", 1, func(c *call, args []value) (value,
		*Error) {
		return c.ev.spread(argument(args, 0))
	}),
	"merge": define("<a<o>:o>", 1, whenDefined(merge)),
	"clone": define("<(oa)-:o>", 1, whenDefined(func(c *call, v value) (value, *Error) { return c.ev.cloneOf(v, 0) })),
}

// keys returns the keys of an object. For an array, it returns those of all objects in it.
func (b *budget) keys(v value) *array {
	result := newSequence()
	switch v := v.(type) {
	case *array:
		all := newObject(0)
		for _, item := range v.list() {
			if !b.tick() {
				break
			}
			for _, key := range b.keys(item).items {
				all.set(textOf(key), true)
			}
		}
		return b.keys(all)
	case *object:
		if !b.ticks(v.len()) {
			break
		}
		for _, key := range v.names() {
			result.push(key)
		}
	}
	return result
}

// spread splits objects into objects with one member each.
func (ev *evaluator) spread(v value) (value, *Error) {
	switch v := v.(type) {
	case *array:
		result := newSequence()
		for _, item := range v.list() {
			if err := ev.budget.spend(1); err != nil {
				return nil, err
			}
			parts, err := ev.spread(item)
			if err != nil {
				return nil, err
			}
			if parts == nil {
				continue
			}
			if result.items, err = ev.budget.extend(result.items, parts); err != nil {
				return nil, err
			}
			result.sequence = false
		}
		return result, nil
	case *object:
		if err := ev.budget.spend(4 * v.len()); err != nil { // three allocations each
			return nil, err
		}
		result := newSequence()
		for i, key := range v.names() {
			single := newObject(1)
			single.set(key, v.at(i))
			result.push(single)
		}
		return result, nil
	default:
		return v, nil
	}
}

func merge(c *call, v value) (value, *Error) {
	result := newObject(0)
	for _, item := range itemsOf(v) {
		o, ok := item.(*object)
		if !ok {
			continue
		}
		if err := c.ev.budget.spend(1 + o.len()); err != nil {
			return nil, err
		}
		for i, key := range o.names() {
			result.set(key, o.at(i))
		}
	}
	return result, nil
}
