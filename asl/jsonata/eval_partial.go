package jsonata

// placeholder marks an argument that a partial application leaves open.
type placeholder struct{}

// partial evaluates a partial application such as function(argument, ?). The result is a function of the arguments
// that are left open.
func (ev *evaluator) partial(n *node, input value, f *frame) (value, *Error) {
	args := make([]value, len(n.children))
	for i, child := range n.children {
		if child.kind == operatorNode && child.text == "?" {
			args[i] = placeholder{}
			continue
		}
		var err *Error
		if args[i], err = ev.eval(child, input, f); err != nil {
			return nil, err
		}
	}
	procedure, err := ev.eval(n.procedure, input, f)
	if err != nil {
		return nil, err
	}
	if err := ev.forgottenDollar("T1007", n, procedure, f); err != nil {
		return nil, err
	}
	switch p := procedure.(type) {
	case *lambda:
		return p.fill(args), nil
	case *native:
		if p.parameters < 0 {
			return nil, unnamedParameter(p)
		}
		return (&lambda{parameters: numbered(max(p.parameters, 1)), wraps: p}).fill(args), nil
	case *matcher:
		return (&lambda{parameters: numbered(2), wraps: p}).fill(args), nil
	case *closure, *nextMatch:
		err := &Error{Code: "S0202", value: ")"}
		err.setToken("..")
		return nil, err
	default:
		return nil, &Error{Code: "T1008", Position: n.position, token: n.procedure.procedureName()}
	}
}

// unnamedParameter returns the error for partially applying a function whose parameters have defaults. The
// reference implementation reads the names of parameters from the function's source text, and cannot parse
// defaults.
func unnamedParameter(p *native) *Error {
	err := &Error{Code: "S0208", value: float64(-p.parameters)}
	err.setToken("=")
	return err
}

func numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = "?" + formatNumber(float64(i))
	}
	return names
}

// fill binds the given arguments. It returns a function of the remaining ones.
func (l *lambda) fill(args []value) *lambda {
	result := &lambda{input: l.input, frame: &frame{parent: l.frame}, body: l.body, wraps: l.wraps}
	for i, name := range l.parameters {
		arg := argument(args, i)
		if _, open := arg.(placeholder); open {
			result.parameters = append(result.parameters, name)
		} else {
			result.frame.bind(name, arg)
		}
	}
	return result
}

// allParameters returns the names under which the arguments of a wrapped function are bound.
func (l *lambda) allParameters() []string {
	if n, ok := l.wraps.(*native); ok {
		return numbered(max(n.parameters, 1))
	}
	return numbered(2)
}
