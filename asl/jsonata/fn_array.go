package jsonata

var arrayFunctions = map[string]*native{
	"append": define("<xx:a>", 2, func(c *call, args []value) (value, *Error) {
		return c.ev.joined(argument(args, 0), argument(args, 1))
	}),
	"reverse": define("<a:a>", 1, whenDefined(func(c *call, v value) (value, *Error) {
		items := itemsOf(v)
		if len(items) <= 1 {
			return v, nil
		}
		if err := c.ev.budget.spendItems(len(items)); err != nil {
			return nil, err
		}
		reversed := make([]value, len(items))
		for i, item := range items {
			reversed[len(items)-1-i] = item
		}
		return newArray(reversed), nil
	})),
	"distinct": define("<x:x>", 1, whenDefined(distinct)),
	"shuffle":  define("<a:a>", 1, whenDefined(shuffle)),
	"sort":     define("<af?:a>", 2, sortFunction),
	"zip":      define("<a+>", 0, zip),
}

// joined implements $append. A single value counts as an array of one element, undefined as an empty one.
func (ev *evaluator) joined(first, second value) (value, *Error) {
	switch {
	case first == nil:
		return second, nil
	case second == nil:
		return first, nil
	}
	items, err := ev.budget.extend(nil, first)
	if err != nil {
		return nil, err
	}
	if items, err = ev.budget.extend(items, second); err != nil {
		return nil, err
	}
	return newArray(items), nil
}

func distinct(c *call, v value) (value, *Error) {
	list, ok := v.(*array)
	if !ok || list.len() <= 1 {
		return v, nil
	}
	result := &array{sequence: list.sequence}
	seen := map[value]bool{}
	for _, item := range list.list() {
		switch item.(type) {
		case *array, *object:
			if err := c.ev.budget.spend(len(result.items)); err != nil {
				return nil, err
			}
			if !c.ev.containsEqual(result.items, item) {
				result.push(item)
			}
		default:
			if err := c.ev.budget.read([]value{item}); err != nil {
				return nil, err
			}
			if !seen[item] {
				seen[item] = true
				result.push(item)
			}
		}
	}
	return result, nil
}

func (ev *evaluator) containsEqual(items []value, wanted value) bool {
	for _, item := range items {
		if ev.budget.equal(item, wanted) {
			return true
		}
	}
	return false
}

func shuffle(c *call, v value) (value, *Error) {
	items := itemsOf(v)
	if len(items) <= 1 {
		return v, nil
	}
	if err := c.ev.budget.spendItems(len(items)); err != nil {
		return nil, err
	}
	result := make([]value, len(items))
	for i, item := range items {
		j := int(fraction(c.ev.env.Random()) * float64(i+1))
		result[i] = result[j]
		result[j] = item
	}
	return newArray(result), nil
}

func sortFunction(c *call, args []value) (value, *Error) {
	list, ok := argument(args, 0).(*array)
	if !ok || list.len() <= 1 {
		return argument(args, 0), nil
	}
	comparator := argument(args, 1)
	if comparator != nil {
		return c.ev.sorted(list, func(a, b value) (bool, *Error) {
			v, err := c.invoke(comparator, a, b)
			return truthy(v), err
		})
	}
	uniform, err := uniformlyOrdered(list.list())
	if err != nil {
		return nil, err
	}
	if !uniform {
		return nil, &Error{Code: "D3070", index: 1}
	}
	return c.ev.sorted(list, func(a, b value) (bool, *Error) {
		after, err := c.ev.budget.compare(">", a, b)
		return after == true, err
	})
}

// uniformlyOrdered reports whether all items are numbers or all are strings.
func uniformlyOrdered(items []value) (bool, *Error) {
	numbers, strings := 0, 0
	for _, item := range items {
		_, ok, err := numeric(item)
		if err != nil {
			return false, err
		}
		if ok {
			numbers++
		}
		if _, ok := item.(string); ok {
			strings++
		}
	}
	return numbers == len(items) || strings == len(items), nil
}

func zip(c *call, args []value) (value, *Error) {
	length := -1
	for _, arg := range args {
		if n := len(itemsOf(arg)); length < 0 || n < length {
			length = n
		}
	}
	length = max(length, 0)
	if err := c.ev.budget.spend(length * (1 + len(args))); err != nil {
		return nil, err
	}
	result := newArray(make([]value, 0, length))
	for i := range length {
		row := make([]value, len(args))
		for j, arg := range args {
			row[j] = itemsOf(arg)[i]
		}
		result.push(newArray(row))
	}
	return result, nil
}
