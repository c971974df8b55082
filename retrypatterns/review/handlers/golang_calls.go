package handlers

import "go/ast"

// call collects the facts of a call.
func (g *goReader) call(x *ast.CallExpr, at goPlace) {
	of, name := g.named(x.Fun)
	switch {
	case of == sdkOfGo && operations[name]:
		g.operation(x, name, at)
		return
	case of != "":
		g.ofPackage(x, of, name, at)
	default:
		g.method(x, at)
	}
	switch fn := g.function(x.Fun).(type) {
	case nil:
		if id, ok := x.Fun.(*ast.Ident); ok && g.info.Uses[id] == nil { // in another file of the package
			g.skipped(id.Name)
		}
	case *ast.FuncLit:
		if _, direct := x.Fun.(*ast.FuncLit); direct {
			g.run(fn, at)
			break
		}
		g.run(fn, g.from(x, at))
	default:
		g.run(fn, g.from(x, at))
	}
	if s, ok := x.Fun.(*ast.SelectorExpr); ok {
		g.visit(&ast.ExprStmt{X: s.X}, at)
	}
	g.arguments(x.Args, at)
}

// from returns the place of a function that is called.
func (g *goReader) from(x *ast.CallExpr, at goPlace) goPlace {
	if at.via == 0 {
		at.via = g.line(g.offset(x.Pos()))
	}
	return at
}

// arguments visits the arguments of a call. Functions among them count as called.
func (g *goReader) arguments(list []ast.Expr, at goPlace) {
	for _, a := range list {
		if fn := g.function(a); fn != nil {
			g.run(fn, at)
			continue
		}
		g.visit(&ast.ExprStmt{X: a}, at)
	}
}

// operation collects the facts of an operation of the SDK.
func (g *goReader) operation(x *ast.CallExpr, name string, at goPlace) {
	if at.step != nil {
		g.called(call{kind: operation, what: "durable." + name, at: g.span(x), step: at.step, via: at.via})
		return
	}
	n := 2 // context, name, function
	switch name {
	case "Map":
		n = 3
	case "Step",
		"StepAsync",
		"WaitForCondition",
		"WaitForCallback",
		"RunInChildContext",
		"RunInChildContextAsync",
		"Go",
		"Retry",
		"Parallel",
		"Select":
	default:
		g.arguments(x.Args[min(1, len(x.Args)):], at)
		return
	}
	if len(x.Args) <= n {
		return
	}
	g.arguments(x.Args[1:n], at)
	options := x.Args[n+1:]
	switch name {
	case "Step", "StepAsync", "WaitForCallback":
		s := g.newStep(x, name, at)
		g.options(s, options)
		g.inStep(x.Args[n], s, at)
	case "WaitForCondition":
		s := g.newStep(x, name, at)
		s.retry = strategy{at: s.at, attempts: 1} // a failed check fails the operation
		if len(options) > 0 {
			if w := g.members(options[0])["WaitStrategy"]; w != nil {
				if fn := g.function(w); fn != nil {
					of := g.custom(fn, g.span(w))
					s.waits = &of
				}
			}
		}
		g.inStep(x.Args[n], s, at)
	case "Retry":
		s := g.newStep(x, name, at)
		s.block = true
		if len(options) > 0 {
			s.retry = g.strategy(options[0], g.span(options[0]))
		}
		at.around = append(at.around[:len(at.around):len(at.around)], s)
		g.body(x.Args[n], at)
	case "Parallel", "Select":
		list, ok := g.resolve(x.Args[n]).(*ast.CompositeLit)
		if !ok {
			g.skipped("the branches of " + name)
			return
		}
		for _, b := range list.Elts {
			if fn := g.members(b)["Func"]; fn != nil {
				g.body(fn, at)
			}
		}
	default:
		g.body(x.Args[n], at)
	}
}

func (g *goReader) newStep(x *ast.CallExpr, kind string, at goPlace) *step {
	s := &step{kind: kind, at: g.span(x), around: at.around, loop: at.loop}
	s.name, _ = literal(g.resolve(x.Args[1]))
	for _, other := range g.steps { // the same call, reached in another way
		if other.at == s.at {
			return other
		}
	}
	g.steps = append(g.steps, s)
	return s
}

// inStep visits the body of a step.
func (g *goReader) inStep(e ast.Expr, s *step, at goPlace) {
	at.step, at.via = s, 0
	g.body(e, at)
}

// body visits the function of an operation.
func (g *goReader) body(e ast.Expr, at goPlace) {
	fn := g.function(e)
	if fn == nil {
		g.skipped(g.described(e))
		return
	}
	g.run(fn, at)
}

// described returns the name under which a report lists a function whose code was not read.
func (g *goReader) described(e ast.Expr) string {
	if of, name := g.named(e); of != "" {
		return name + " of " + of
	}
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return "a computed function"
}
