package intrinsic

import (
	"stepback/asl/jsonpath"
	"stepback/jsonvalue"
)

// argument is one compiled argument of a call to the named function.
type argument interface {
	eval(env Env, function string) (jsonvalue.Value, error)
}

// literalArgument is a number, true, false, null or a quoted string.
type literalArgument struct {
	value jsonvalue.Value
	raw   string // for a string: the text between the quotes, with its escapes
}

func (a literalArgument) eval(Env, string) (jsonvalue.Value, error) { return a.value, nil }

// pathArgument is a path into the input, the context object or a variable.
type pathArgument struct{ path *jsonpath.Path }

func (a pathArgument) eval(env Env, function string) (jsonvalue.Value, error) {
	v, err := env.Lookup(a.path)
	if err != nil {
		return jsonvalue.Value{}, &ArgumentError{Function: function, Path: a.path, Err: err}
	}
	return v, nil
}

// callArgument is a nested call.
type callArgument struct{ call *Call }

func (a callArgument) eval(env Env, _ string) (jsonvalue.Value, error) { return a.call.Eval(env) }
