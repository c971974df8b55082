//go:build !lean

package handlers

import (
	"reflect"

	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/token"
)

// children calls f for each node directly below a node.
func children(n ast.Node, f func(ast.Node)) {
	v := reflect.ValueOf(n)
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return
	}
	fields(v, f)
}

var nodeType = reflect.TypeFor[ast.Node]()

func fields(v reflect.Value, f func(ast.Node)) {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		if v.Type().Field(i).Name != "DeclarationList" { // repeats the declarations of the body
			below(v.Field(i), f)
		}
	}
}

func below(v reflect.Value, f func(ast.Node)) {
	switch v.Kind() { //nolint:exhaustive // the other kinds have no nodes
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if n, ok := v.Interface().(ast.Node); ok {
			if p := reflect.ValueOf(n); p.Kind() != reflect.Pointer || !p.IsNil() {
				f(n)
			}
			return
		}
		if v.Kind() == reflect.Pointer && v.Type().Elem().Kind() == reflect.Struct {
			fields(v, f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			below(v.Index(i), f)
		}
	case reflect.Struct:
		if v.CanAddr() && v.Addr().Type().Implements(nodeType) {
			if n, ok := v.Addr().Interface().(ast.Node); ok {
				f(n)
			}
		}
	}
}

// visit collects the facts of a node and of what it contains.
func (r *jsReader) visit(n ast.Node, at place) {
	if at.depth > maxNesting {
		return
	}
	switch x := n.(type) {
	case nil:
		return
	case *ast.Identifier, *ast.ImportDeclaration:
		return
	case *ast.BlockStatement:
		at.env = inner(at.env)
		r.declare(x.List, at.env)
	case *ast.FunctionDeclaration:
		r.outsideDurable(x.Function, at)
		return
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		r.function(x, at.env)
		r.outsideDurable(x, at)
		return
	case *ast.ClassLiteral:
		if at.durable {
			return
		}
	case *ast.CallExpression:
		r.call(x, at)
		return
	case *ast.NewExpression:
		r.created(x, at)
		return
	case *ast.ForStatement:
		at.env = inner(at.env)
		switch init := x.Initializer.(type) {
		case *ast.ForLoopInitializerLexicalDecl:
			r.declareVariables(init.LexicalDeclaration.List, at.env)
		case *ast.ForLoopInitializerVarDeclList:
			r.declareVariables(init.List, at.env)
		}
		r.loops(x, x.Test, x.Body, at)
		return
	case *ast.WhileStatement:
		r.loops(x, x.Test, x.Body, at)
		return
	case *ast.DoWhileStatement:
		r.loops(x, x.Test, x.Body, at)
		return
	case *ast.ForOfStatement:
		at.env = inner(at.env)
		r.bindInto(x.Into, at.env)
	case *ast.ForInStatement:
		at.env = inner(at.env)
		r.bindInto(x.Into, at.env)
	case *ast.CatchStatement:
		at.env = inner(at.env)
		if x.Parameter != nil {
			r.bind(x.Parameter, &binding{}, at.env)
		}
	case *ast.DotExpression:
		r.visit(x.Left, at)
		return
	}
	children(n, func(n ast.Node) { r.visit(n, at) })
}

func (r *jsReader) bindInto(into ast.ForInto, env *scope) {
	switch i := into.(type) {
	case *ast.ForDeclaration:
		r.bind(i.Target, &binding{}, env)
	case *ast.ForIntoVar:
		r.bind(i.Binding.Target, &binding{}, env)
	}
}

// outsideDurable visits a function that is written outside durable code, for the durable functions in it.
func (r *jsReader) outsideDurable(n ast.Node, at place) {
	if fn := r.function(n, at.env); fn != nil && !at.durable {
		r.runs(fn, -1, at)
	}
}

// loops visits a loop. A loop that repeats operations until one succeeds is a layer of retries.
func (r *jsReader) loops(n ast.Node, test ast.Expression, body ast.Statement, at place) {
	if at.durable && at.step == nil {
		if try := retrying(body); try != nil {
			literal, isLiteral := test.(*ast.BooleanLiteral)
			forever := test == nil || isLiteral && literal.Value
			at.loop = &loop{at: r.span(n), endless: forever && !leaves(try.Catch.Body)}
			r.file.loops = append(r.file.loops, at.loop)
		}
	}
	children(n, func(n ast.Node) { r.visit(n, at) })
}

// retrying returns the try statement of a loop's body whose block ends with return or break after an await, and whose
// catch may continue the loop; nil if there is none.
func retrying(body ast.Statement) (found *ast.TryStatement) {
	block, ok := body.(*ast.BlockStatement)
	if !ok {
		return nil
	}
	for _, s := range block.List {
		t, ok := s.(*ast.TryStatement)
		if ok && t.Catch != nil && len(t.Body.List) > 0 && awaits(t.Body) && ends(t.Body.List) &&
			!ends(t.Catch.Body.List) {
			return t
		}
	}
	return nil
}

// ends reports whether statements end with return, break or throw.
func ends(list []ast.Statement) bool {
	if len(list) == 0 {
		return false
	}
	switch last := list[len(list)-1].(type) {
	case *ast.ReturnStatement, *ast.ThrowStatement:
		return true
	case *ast.BranchStatement:
		return last.Token == token.BREAK
	}
	return false
}

// leaves reports whether a return, break or throw is anywhere in a block, functions aside.
func leaves(n ast.Node) (found bool) {
	children(n, func(n ast.Node) {
		switch x := n.(type) {
		case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		case *ast.ReturnStatement, *ast.ThrowStatement:
			found = true
		case *ast.BranchStatement:
			found = found || x.Token == token.BREAK
		default:
			found = found || leaves(n)
		}
	})
	return found
}

// awaits reports whether a block awaits something, functions aside.
func awaits(n ast.Node) (found bool) {
	children(n, func(n ast.Node) {
		switch n.(type) {
		case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		case *ast.AwaitExpression:
			found = true
		default:
			found = found || awaits(n)
		}
	})
	return found
}
