package jsonata

var booleanFunctions = map[string]*native{
	"boolean": define("<x-:b>", 1, whenDefined(func(_ *call, v value) (value, *Error) {
		yes, err := truth(v)
		return yes, err
	})),
	"not": define("<x-:b>", 1, whenDefined(func(_ *call, v value) (value, *Error) {
		yes, err := truth(v)
		return !yes, err
	})),
	"exists": define("<x:b>", 1, func(_ *call, args []value) (value, *Error) { return argument(args, 0) != nil, nil }),
	"type":   define("<x:s>", 1, func(_ *call, args []value) (value, *Error) { return typeName(argument(args, 0)) }),
}

func typeName(v value) (value, *Error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case null:
		return "null", nil
	case float64:
		if _, ok, err := numeric(v); !ok {
			return "object", err
		}
		return "number", nil
	case string:
		return "string", nil
	case bool:
		return "boolean", nil
	case *array:
		return "array", nil
	default:
		if isFunction(v) {
			return "function", nil
		}
		return "object", nil
	}
}
