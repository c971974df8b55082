package jsonata

// call evaluates the arguments of a call and applies the function. chained, if not nil, is the first argument.
func (ev *evaluator) call(n *node, input value, f *frame, chained *value) (value, *Error) {
	procedure, err := ev.eval(n.procedure, input, f)
	if err != nil {
		return nil, err
	}
	if err := ev.forgottenDollar("T1005", n, procedure, f); err != nil {
		return nil, err
	}
	args := make([]value, 0, len(n.children)+1)
	if chained != nil {
		args = append(args, *chained)
	}
	for _, child := range n.children {
		arg, err := ev.eval(child, input, f)
		if err != nil {
			return nil, err
		}
		if isFunction(arg) {
			arg = &closure{function: arg, arity: arityOf(arg), frame: f}
		}
		args = append(args, arg)
	}
	from := origin{token: n.procedure.procedureName(), position: n.position}
	if l, ok := procedure.(*lambda); ok {
		l.from = from
	}
	if procedure == (null{}) {
		err := runtimeError("Cannot set properties of null (setting 'token')")
		err.Position, err.token = from.position, from.token
		return nil, err
	}
	known := from
	switch procedure.(type) {
	case *lambda, *native:
	default:
		known = origin{}
	}
	result, err := ev.apply(procedure, args, input, f, known)
	if err != nil {
		if err.Position == 0 {
			err.Position = from.position
		}
		if err.token == nil || !truthy(err.token) {
			err.token = from.token
		}
		return nil, err
	}
	return result, nil
}

// forgottenDollar returns a helpful error if the call lacks the dollar before a function's name.
func (ev *evaluator) forgottenDollar(code string, n *node, procedure value, f *frame) *Error {
	if procedure != nil || n.procedure.kind != pathNode {
		return nil
	}
	name, ok := n.procedure.steps[0].value().(string)
	if !ok {
		return nil
	}
	if v := ev.lookup(f, name); v == nil || !truthy(v) {
		return nil
	}
	err := &Error{Code: code, Position: n.position}
	err.setToken(name)
	return err
}

// truthy implements JavaScript's truthiness.
func truthy(v value) bool {
	switch v := v.(type) {
	case nil, null:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case float64:
		return v == v && v != 0
	default:
		return true
	}
}

// apply calls a function and then, one after the other, the functions that it calls in tail position.
func (ev *evaluator) apply(procedure value, args []value, input value, f *frame, from origin) (value, *Error) {
	result, err := ev.applyOnce(procedure, args, input, f, from)
	for err == nil {
		thunk, ok := result.(*lambda)
		if !ok || !thunk.thunk {
			break
		}
		n := thunk.body
		var next value
		if next, err = ev.eval(n.procedure, thunk.input, thunk.frame); err != nil {
			return nil, err
		}
		if err = unmarkable(next, n.procedure); err != nil {
			return nil, err
		}
		from := origin{position: n.procedure.position}
		l, isLambda := next.(*lambda)
		switch {
		case n.procedure.kind == variableNode:
			from.token = n.procedure.text
		case isLambda:
			from.token = l.from.token
		}
		if isLambda {
			l.from = from
		}
		args := make([]value, len(n.children))
		for i, child := range n.children {
			if args[i], err = ev.eval(child, thunk.input, thunk.frame); err != nil {
				return nil, err
			}
		}
		result, err = ev.applyOnce(next, args, input, f, from)
	}
	return result, err
}

// unmarkable returns the reference implementation's error for a tail call whose procedure is not a function. The
// reference implementation fails there because it tries to record the call's position on the function.
func unmarkable(v value, procedure *node) *Error {
	property := "position"
	if procedure.kind == variableNode {
		property = "token"
	}
	switch v.(type) {
	case nil, null, string, float64, bool:
		return assign(nil, v, property, nil)
	default:
		return nil
	}
}

// applyOnce calls a function; the result may be a thunk.
func (ev *evaluator) applyOnce(procedure value, args []value, input value, f *frame, from origin) (value, *Error) {
	switch p := procedure.(type) {
	case *lambda:
		valid, err := p.signature.validate(args, input)
		if err != nil {
			return nil, from.mark(err)
		}
		result, err := ev.applyLambda(p, valid)
		return result, from.mark(err)
	case *native:
		valid, err := p.signature.validate(args, input)
		if err != nil {
			return nil, from.mark(err)
		}
		if err := ev.budget.read(valid); err != nil {
			return nil, from.mark(err)
		}
		result, err := p.call(&call{ev: ev, input: input, frame: f}, valid)
		return result, from.mark(err)
	case *closure:
		return ev.apply(p.function, args, null{}, p.frame, origin{})
	case *matcher:
		text, ok := argument(args, 0).(string)
		if !ok {
			text = stringify(argument(args, 0)) // "undefined", or close to JavaScript's text for other values
		}
		if err := ev.budget.spend(len(text) / itemsReadPerStep); err != nil {
			return nil, err
		}
		return ev.matchObject(p.first(units(text)))
	case *nextMatch:
		return ev.matchObject(p)
	default:
		return nil, &Error{Code: "T1006"}
	}
}

func (ev *evaluator) applyLambda(l *lambda, args []value) (value, *Error) {
	inner := &frame{parent: l.frame, names: make([]string, 0, len(l.parameters)),
		vals: make([]value, 0, len(l.parameters))}
	for i, name := range l.parameters {
		inner.bind(name, argument(args, i))
	}
	if l.wraps == nil {
		return ev.eval(l.body, l.input, inner)
	}
	wrapped := make([]value, len(l.allParameters()))
	for i, name := range l.allParameters() {
		wrapped[i], _ = inner.lookup(name)
	}
	if n, ok := l.wraps.(*native); ok {
		if err := ev.budget.read(wrapped); err != nil {
			return nil, err
		}
		return n.call(&call{ev: ev, frame: inner}, wrapped)
	}
	return ev.applyOnce(l.wraps, wrapped, nil, inner, origin{})
}

func argument(args []value, i int) value {
	if i < len(args) {
		return args[i]
	}
	return nil
}

// chain evaluates left ~> right. If right is a call, the value of left becomes its first argument. If left and
// right are functions, the result is their composition. Otherwise chain calls the function right with the value of
// left.
func (ev *evaluator) chain(n *node, input value, f *frame) (value, *Error) {
	left, err := ev.eval(n.lhs, input, f)
	if err != nil {
		return nil, err
	}
	if n.rhs.kind == functionNode {
		return ev.chainedCall(n.rhs, left, input, f)
	}
	function, err := ev.eval(n.rhs, input, f)
	if err != nil {
		return nil, err
	}
	if !isFunction(function) {
		return nil, &Error{Code: "T2006", Position: n.position, value: function}
	}
	if !isFunction(left) {
		return ev.apply(function, []value{left}, null{}, f, originOf(function))
	}
	return compose(left, function), nil
}

// chainedCall evaluates left ~> function(arguments), including the predicates and groupings attached to the call.
func (ev *evaluator) chainedCall(n *node, left, input value, f *frame) (value, *Error) {
	return ev.call(n, input, f, &left)
}

func originOf(function value) origin {
	if l, ok := function.(*lambda); ok {
		return l.from
	}
	return origin{}
}

var composition = mustCompile("function($x){ $g($f($x)) }")

// compose returns the function that applies first one function and then another.
func compose(first, second value) value {
	f := &frame{}
	f.bind("f", first)
	f.bind("g", second)
	return newLambda(composition, null{}, f)
}

func mustCompile(text string) *node {
	n, err := compile(text)
	if err != nil {
		panic(err.Code)
	}
	return n
}

func mustSignature(text string) *signature {
	s, err := parseSignature(text)
	if err != nil {
		panic(err.Code)
	}
	return s
}
