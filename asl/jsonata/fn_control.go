package jsonata

var controlFunctions = map[string]*native{
	"error": define("<s?:x>", 1, func(_ *call, args []value) (value, *Error) {
		return nil, custom("D3137", argument(args, 0), "$error() function evaluated")
	}),
	"assert": define("<bs?:x>", 2, func(_ *call, args []value) (value, *Error) {
		if truthy(argument(args, 0)) {
			return nil, nil
		}
		return nil, custom("D3141", argument(args, 1), "$assert() statement failed")
	}),
}

func custom(code string, message value, standard string) *Error {
	if text := textOf(message); text != "" {
		standard = text
	}
	return &Error{Code: code, Message: standard}
}

// evalText implements $eval: it compiles and evaluates a text.
func evalText(c *call, args []value) (value, *Error) {
	if argument(args, 0) == nil {
		return nil, nil
	}
	source := textOf(args[0])
	input := c.input
	if focus := argument(args, 1); focus != nil {
		input = focus
		if a, ok := focus.(*array); ok && !a.sequence {
			input = &array{items: []value{a}, sequence: true, outer: true}
		}
	}
	root, err := compile(source)
	if err != nil {
		return nil, raise("D3120", err.finish(source).Message)
	}
	v, err := c.ev.eval(root, input, c.frame)
	if err != nil {
		if err.Code == "U1001" {
			return nil, err
		}
		return nil, raise("D3121", err.finish(source).Message)
	}
	return v, nil
}
