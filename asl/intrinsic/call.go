// Package intrinsic compiles and evaluates the intrinsic functions of Amazon States Language: the States.Name(…)
// calls in payload templates of the JSONPath language.
//
// It uses no clock, no global random source and no I/O: paths and randomness come from the caller's Env, so the same
// call with the same Env gives the same value. It does not know about fields or states; see asl/template for those.
package intrinsic

import (
	"strings"

	"stepback/asl/jsonpath"
	"stepback/jsonvalue"
)

// Env provides the values that a call reads beyond its own text.
type Env interface {
	// Lookup returns the value that a path selects. If it selects nothing, the error is a *jsonpath.NotFoundError.
	Lookup(p *jsonpath.Path) (jsonvalue.Value, error)
	// Random returns 64 random bits, for States.UUID and for States.MathRandom without a seed.
	Random() uint64
}

// Call is a compiled call with its arguments. It is immutable and safe for concurrent use.
type Call struct {
	text      string
	name      string
	arguments []argument
	apply     apply
}

// apply computes a function from its evaluated arguments. Their number has already been checked, and the function
// may modify the slice. The error describes the problem without naming the function.
type apply func(arguments []jsonvalue.Value, env Env) (jsonvalue.Value, error)

// IsCall reports whether a text looks like a call of an intrinsic function; Compile checks whether it is a valid one.
func IsCall(text string) bool { return strings.HasPrefix(text, "States.") }

// Text returns the call as it was written.
func (c *Call) Text() string { return c.text }

// Eval evaluates the arguments from left to right, then the function. The error is an *Error if this function or a
// nested one cannot handle its arguments, and an *ArgumentError if a path argument has no value.
func (c *Call) Eval(env Env) (jsonvalue.Value, error) {
	values := make([]jsonvalue.Value, len(c.arguments))
	for i, a := range c.arguments {
		v, err := a.eval(env, c.name)
		if err != nil {
			return jsonvalue.Value{}, err
		}
		values[i] = v
	}
	v, err := c.apply(values, env)
	if err != nil {
		return jsonvalue.Value{}, &Error{Function: c.name, Reason: err.Error()}
	}
	return v, nil
}

// Paths returns the paths that the call and the calls nested in it read, in the order in which they are written.
func (c *Call) Paths() []*jsonpath.Path {
	var paths []*jsonpath.Path
	for _, a := range c.arguments {
		switch a := a.(type) {
		case pathArgument:
			paths = append(paths, a.path)
		case callArgument:
			paths = append(paths, a.call.Paths()...)
		}
	}
	return paths
}
