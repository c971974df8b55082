package jsonata

import "stepback/asl/jsonata/internal/ecma"

// The callable values: *lambda, *native, *closure, *matcher and *nextMatch.

// lambda is a function defined in the expression. It holds the variables around its definition.
type lambda struct {
	input      value
	frame      *frame
	parameters []string
	signature  *signature
	body       *node
	// wraps is the built-in function that a partial application calls instead of evaluating a body.
	wraps value
	thunk bool
	from  origin
}

// origin holds where a function was called and under which name. Errors without their own position use it.
type origin struct {
	token    value
	position int
}

func (o origin) mark(err *Error) *Error {
	if err == nil {
		return nil
	}
	if err.token == nil && o.token != nil {
		err.token = o.token
	}
	if o.position != 0 {
		err.Position = o.position
	}
	return err
}

// native is a built-in function.
type native struct {
	signature *signature
	// arity is the number of arguments that higher-order functions pass. parameters is the number of parameters
	// that a partial application may fill.
	arity, parameters int
	call              func(c *call, args []value) (value, *Error)
}

// call is the context of a call of a built-in function.
type call struct {
	ev    *evaluator
	input value
	frame *frame
}

// closure is a function in the form in which it is passed to another function.
type closure struct {
	function value
	arity    int
	frame    *frame
}

// matcher is a regular expression. Called as a function with a text, it returns the first match.
type matcher struct {
	re       *ecma.Regexp
	source   string
	position int
}

// nextMatch is the function that finds the match after a previous one.
type nextMatch struct {
	matcher *matcher
	text    []uint16
	from    int
	// first is true for the search for the first match. Only the first match may be empty.
	first bool
}

func isFunction(v value) bool {
	switch v.(type) {
	case *lambda, *native, *closure, *matcher, *nextMatch:
		return true
	default:
		return false
	}
}

func arityOf(v value) int {
	switch v := v.(type) {
	case *lambda:
		return len(v.parameters)
	case *native:
		return v.arity
	case *closure:
		return v.arity
	case *matcher:
		return 2
	default:
		return 0
	}
}

func newLambda(n *node, input value, f *frame) *lambda {
	l := &lambda{input: input, frame: f, signature: n.signature, body: n.body, thunk: n.thunk}
	if len(n.children) > 0 {
		l.parameters = make([]string, len(n.children))
		for i, p := range n.children {
			l.parameters[i] = p.text
		}
	}
	return l
}

// invoke calls a function that was passed as an argument.
func (c *call) invoke(function value, args ...value) (value, *Error) {
	switch function := function.(type) {
	case *closure:
		return c.ev.apply(function.function, args, null{}, function.frame, origin{})
	case *lambda:
		return c.ev.apply(function, args, function.input, c.frame, function.from)
	default:
		return c.ev.apply(function, args, c.input, c.frame, origin{})
	}
}
