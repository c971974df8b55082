package intrinsic

import (
	"fmt"

	"stepback/asl/jsonpath"
	"stepback/asl/jsonvalue"
)

// Limits. AWS allows ten calls inside one field; the size of results keeps nested calls from growing without end and lies
// far above the 262,144 bytes that a payload may have.
const (
	maxCalls       = 10
	maxResultBytes = 4 << 20
)

// Env is what a call needs from outside.
type Env interface {
	// Lookup returns what a path selects from the input, the context object or a variable, as jsonpath.Path.Select does.
	Lookup(path *jsonpath.Path) (jsonvalue.Value, error)
	// Random returns 64 uniformly random bits for States.UUID and States.MathRandom.
	Random() uint64
}

// Call is a compiled call of an intrinsic function.
type Call struct {
	text  string
	root  *invocation
	paths []*jsonpath.Path
}

// Text returns the call as it was written.
func (c *Call) Text() string { return c.text }

// Paths returns all paths among the arguments, in order, those of nested calls included. The slice must not be changed.
func (c *Call) Paths() []*jsonpath.Path { return c.paths }

// Eval evaluates the call. The error is an *Error.
func (c *Call) Eval(env Env) (jsonvalue.Value, error) {
	v, err := c.root.evaluate(env)
	if err != nil {
		err.Call = c.text
		return jsonvalue.Value{}, err
	}
	return v, nil
}

// invocation is one function with its arguments.
type invocation struct {
	function  *function
	arguments []argument
	template  *template // States.Format with a literal template
}

// argument is a literal, a path or a nested call.
type argument struct {
	literal jsonvalue.Value
	path    *jsonpath.Path
	call    *invocation
	raw     string // the text between the quotes of a string literal, with its escapes
}

func (i *invocation) evaluate(env Env) (jsonvalue.Value, *Error) {
	values := make([]jsonvalue.Value, len(i.arguments))
	for at := range i.arguments {
		v, err := i.value(env, at)
		if err != nil {
			return jsonvalue.Value{}, err
		}
		if kind := i.function.kindOf(at); !kind.accepts(v) {
			return jsonvalue.Value{}, i.failed(fmt.Sprintf("argument %d must be %s, but is %s", at+1, kind, v.Kind()))
		}
		values[at] = v
	}
	result, err := i.function.eval(&operands{values: values, env: env, template: i.template})
	if err == nil && !result.FitsIn(maxResultBytes) {
		err = errTooLarge
	}
	if err != nil {
		return jsonvalue.Value{}, i.failed(err.Error())
	}
	return result, nil
}

func (i *invocation) value(env Env, at int) (jsonvalue.Value, *Error) {
	switch a := &i.arguments[at]; {
	case a.call != nil:
		return a.call.evaluate(env)
	case a.path != nil:
		v, err := env.Lookup(a.path)
		if err != nil {
			return v, &Error{Function: i.function.name, Reason: err.Error(), Path: a.path, Err: err}
		}
		return v, nil
	default:
		return a.literal, nil
	}
}

func (i *invocation) failed(reason string) *Error {
	return &Error{Function: i.function.name, Reason: reason}
}
