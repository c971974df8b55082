package jsonata

var higherOrderFunctions = map[string]*native{
	"map":    define("<af>", 2, mapFunction),
	"filter": define("<af>", 2, filterFunction),
	"single": define("<af?>", 2, single),
	"reduce": define("<afj?:j>", 3, reduceFunction),
	"sift":   define("<o-f?:o>", 2, sift),
	"each":   define("<o-f:a>", 2, each),
}

// visit calls a function with the item, its position and the whole array. It passes only as many of these as the
// function takes.
func (c *call) visit(function, item, place, whole value) (value, *Error) {
	if function == nil {
		return nil, runtimeError("Cannot read properties of undefined (reading 'arity')")
	}
	switch arity := arityOf(function); {
	case arity >= 3:
		return c.invoke(function, item, place, whole)
	case arity == 2:
		return c.invoke(function, item, place)
	default:
		return c.invoke(function, item)
	}
}

func mapFunction(c *call, args []value) (value, *Error) {
	if argument(args, 0) == nil {
		return nil, nil
	}
	result := newSequence()
	for i, item := range itemsOf(args[0]) {
		v, err := c.visit(argument(args, 1), item, float64(i), args[0])
		if err != nil {
			return nil, err
		}
		if v != nil {
			result.push(v)
		}
	}
	return result, nil
}

// accepts reports whether a function returns true for an item.
func (c *call) accepts(function, item, place, whole value) (bool, *Error) {
	v, err := c.visit(function, item, place, whole)
	if err != nil {
		return false, err
	}
	return c.ev.budget.truth(v)
}

func filterFunction(c *call, args []value) (value, *Error) {
	if argument(args, 0) == nil {
		return nil, nil
	}
	result := newSequence()
	for i, item := range itemsOf(args[0]) {
		yes, err := c.accepts(argument(args, 1), item, float64(i), args[0])
		if err != nil {
			return nil, err
		}
		if yes {
			result.push(item)
		}
	}
	return result, nil
}

func single(c *call, args []value) (value, *Error) {
	if argument(args, 0) == nil {
		return nil, nil
	}
	var result value
	found := false
	for i, item := range itemsOf(args[0]) {
		yes := true
		if function := argument(args, 1); function != nil {
			var err *Error
			if yes, err = c.accepts(function, item, float64(i), args[0]); err != nil {
				return nil, err
			}
		}
		if !yes {
			continue
		}
		if found {
			return nil, &Error{Code: "D3138", index: i}
		}
		result, found = item, true
	}
	if !found {
		return nil, &Error{Code: "D3139"}
	}
	return result, nil
}

func reduceFunction(c *call, args []value) (value, *Error) {
	if argument(args, 0) == nil {
		return nil, nil
	}
	items := itemsOf(args[0])
	function := argument(args, 1)
	arity := arityOf(function)
	if arity < 2 {
		return nil, &Error{Code: "D3050", index: 1}
	}
	result := argument(args, 2)
	index := 0
	if result == nil && len(items) > 0 {
		result = items[0]
		index = 1
	}
	for ; index < len(items); index++ {
		passed := []value{result, items[index], float64(index), args[0]}
		var err *Error
		if result, err = c.invoke(function, passed[:min(arity, 4)]...); err != nil {
			return nil, err
		}
	}
	return result, nil
}

func sift(c *call, args []value) (value, *Error) {
	o, ok := argument(args, 0).(*object)
	if !ok {
		return nil, nil
	}
	result := newObject(0)
	for i, key := range o.names() {
		yes, err := c.accepts(argument(args, 1), o.at(i), key, o)
		if err != nil {
			return nil, err
		}
		if yes {
			result.set(key, o.at(i))
		}
	}
	if result.len() == 0 {
		return nil, nil
	}
	return result, nil
}

func each(c *call, args []value) (value, *Error) {
	result := newSequence()
	o, ok := argument(args, 0).(*object)
	if !ok {
		return result, nil
	}
	for i, key := range o.names() {
		v, err := c.visit(argument(args, 1), o.at(i), key, o)
		if err != nil {
			return nil, err
		}
		if v != nil {
			result.push(v)
		}
	}
	return result, nil
}
