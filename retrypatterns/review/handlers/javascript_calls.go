//go:build !lean

package handlers

import (
	"github.com/grafana/sobek/ast"
)

// call collects the facts of a call.
func (r *jsReader) call(x *ast.CallExpression, at place) {
	callee := unwrapped(x.Callee)
	if d, ok := callee.(*ast.DotExpression); ok && at.durable {
		if left := r.resolve(d.Left, at.env, 0); left.context {
			r.operation(x, d.Identifier.Name.String(), at)
			return
		}
	}
	v := r.resolve(callee, at.env, 0)
	if v.from != nil && v.from.module == sdkOfJavaScript {
		switch v.from.name {
		case "withDurableExecution":
			r.wrapped(x, at)
			return
		case "withRetry":
			if at.durable {
				r.block(x, at)
				return
			}
		}
	}
	if at.durable {
		r.outside(x, callee, v, at)
	}
	if v.fn != nil {
		next := at
		if at.via == 0 {
			next.via = r.line(r.span(x).Start)
		}
		if _, literal := callee.(*ast.Identifier); !literal {
			next.via = at.via // called where it is written
		}
		r.runs(v.fn, -1, next, x.ArgumentList...)
	} else if d, ok := callee.(*ast.DotExpression); ok {
		r.visit(d.Left, at)
	} else if _, ok := callee.(*ast.Identifier); !ok {
		r.visit(callee, at)
	}
	r.arguments(x.ArgumentList, at)
}

// arguments visits the arguments of a call. Functions among them count as called.
func (r *jsReader) arguments(list []ast.Expression, at place) {
	for _, a := range list {
		if v := r.resolve(a, at.env, 0); v.fn != nil {
			r.runs(v.fn, -1, at)
			continue
		}
		r.visit(a, at)
	}
}

func unwrapped(e ast.Expression) ast.Expression {
	for {
		switch x := e.(type) {
		case *ast.OptionalChain:
			e = x.Expression
		case *ast.Optional:
			e = x.Expression
		default:
			return e
		}
	}
}

// wrapped visits a function that the SDK makes durable.
func (r *jsReader) wrapped(x *ast.CallExpression, at place) {
	if len(x.ArgumentList) == 0 {
		return
	}
	v := r.resolve(x.ArgumentList[0], at.env, 0)
	r.file.functions++
	if v.fn == nil {
		r.skipped(r.described(x.ArgumentList[0], v))
		return
	}
	r.runs(v.fn, 1, place{durable: true})
}

// described returns the name under which a report lists a function whose code was not read.
func (r *jsReader) described(e ast.Expression, v value) string {
	name := "a computed function"
	switch x := unwrapped(e).(type) {
	case *ast.Identifier:
		name = x.Name.String()
	case *ast.DotExpression:
		name = x.Identifier.Name.String()
	}
	if v.from != nil {
		return name + " of " + v.from.module
	}
	return name
}

// bodyArgument is the number of the argument with the function of an operation, if its optional name is given.
var bodyArgument = map[string]int{
	"step":              1,
	"runInChildContext": 1,
	"waitForCallback":   1,
	"waitForCondition":  1,
	"map":               2,
	"parallel":          1,
}

// operation collects the facts of an operation of a durable context.
func (r *jsReader) operation(x *ast.CallExpression, name string, at place) {
	n, hasBody := bodyArgument[name]
	args := x.ArgumentList
	if at.step != nil && (hasBody || name == "wait" || name == "invoke" || name == "createCallback") {
		r.called(call{kind: operation, what: "context." + name, at: r.span(x), step: at.step, via: at.via})
		r.arguments(args, at)
		return
	}
	if !hasBody {
		r.arguments(args, at)
		return
	}
	if !r.named(name, args, at) {
		n--
	}
	for i := range min(n, len(args)) { // the name and the items
		r.visit(args[i], at)
	}
	if n >= len(args) || n < 0 {
		return
	}
	var config ast.Expression
	if n+1 < len(args) {
		config = args[n+1]
	}
	switch name {
	case "runInChildContext":
		r.body(args[n], at)
	case "map":
		r.body(args[n], at)
	case "parallel":
		r.branches(args[n], at)
	case "step", "waitForCallback":
		s := r.newStep(name, x, args, n, at)
		s.retry = r.strategyOf(config, "retryStrategy", s.at, at.env)
		s.atMostOnce = r.atMostOnce(config, at.env)
		r.inStep(args[n], s, at)
	case "waitForCondition":
		s := r.newStep(name, x, args, n, at)
		s.retry = strategy{at: s.at, attempts: 1} // a failed check fails the operation
		if w := r.strategyOf(config, "waitStrategy", s.at, at.env); w.custom {
			s.waits = &w
		}
		r.inStep(args[n], s, at)
	}
}

// named reports whether the arguments of an operation begin with its name.
func (r *jsReader) named(operation string, args []ast.Expression, at place) bool {
	if len(args) < 2 {
		return false
	}
	if operation == "map" {
		return r.resolve(args[1], at.env, 0).fn == nil && len(args) > 2
	}
	switch v := r.resolve(args[0], at.env, 0); x := v.expr.(type) {
	case *ast.StringLiteral, *ast.TemplateLiteral, *ast.BinaryExpression, *ast.NullLiteral:
		return true
	case *ast.ArrayLiteral:
		return operation != "parallel"
	case *ast.Identifier:
		if x.Name.String() == "undefined" {
			return true
		}
		return v.fn == nil && v.from == nil
	default:
		return v.fn == nil
	}
}

func (r *jsReader) newStep(kind string, x *ast.CallExpression, args []ast.Expression, body int, at place) *step {
	s := &step{kind: kind, at: r.span(x), around: at.around, loop: at.loop}
	if body > 0 {
		if text, ok := r.resolve(args[body-1], at.env, 0).expr.(*ast.StringLiteral); ok {
			s.name = text.Value.String()
		}
	}
	for _, other := range r.steps { // the same call, reached in another way
		if other.at == s.at {
			return other
		}
	}
	r.steps = append(r.steps, s)
	return s
}

// inStep visits the body of a step.
func (r *jsReader) inStep(e ast.Expression, s *step, at place) {
	at.step, at.via = s, 0
	v := r.resolve(e, at.env, 0)
	if v.fn == nil {
		r.skipped(r.described(e, v))
		return
	}
	r.runs(v.fn, -1, at)
}

// body visits a function that receives a durable context as its first parameter.
func (r *jsReader) body(e ast.Expression, at place) {
	v := r.resolve(e, at.env, 0)
	if v.fn == nil {
		r.skipped(r.described(e, v))
		return
	}
	r.runs(v.fn, 0, at)
}

// branches visits the branches of parallel: functions, or objects with a name and a function.
func (r *jsReader) branches(e ast.Expression, at place) {
	v := r.resolve(e, at.env, 0)
	list, ok := v.expr.(*ast.ArrayLiteral)
	if !ok {
		r.visit(e, at)
		r.skipped("the branches of parallel")
		return
	}
	at.env = v.env
	for _, b := range list.Value {
		of := r.resolve(b, at.env, 0)
		if o, ok := of.expr.(*ast.ObjectLiteral); ok {
			if f, found, _ := r.property(o, of.env, "func"); found {
				inside := at
				inside.env = f.env
				r.body(f.expr, inside)
			}
			continue
		}
		r.body(b, at)
	}
}

// block visits withRetry(context, name, function, config).
func (r *jsReader) block(x *ast.CallExpression, at place) {
	args := x.ArgumentList
	if len(args) < 3 {
		return
	}
	n := 2
	if r.resolve(args[1], at.env, 0).fn != nil {
		n = 1
	}
	var config ast.Expression
	if n+1 < len(args) {
		config = args[n+1]
	}
	s := r.newStep("withRetry", x, args, n, at)
	s.block, s.retry = true, r.strategyOf(config, "retryStrategy", s.at, at.env)
	at.around = append(at.around[:len(at.around):len(at.around)], s)
	r.body(args[n], at)
}
