//go:build !lean

package handlers

import (
	"strings"

	"github.com/grafana/sobek/ast"
)

// bind declares the names of a pattern.
func (r *jsReader) bind(target ast.Expression, b *binding, env *scope) {
	switch t := target.(type) {
	case *ast.Identifier:
		env.names[t.Name.String()] = b
	case *ast.ObjectPattern:
		for _, p := range t.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				env.names[p.Name.Name.String()] = r.member(b, p.Name.Name.String())
			case *ast.PropertyKeyed:
				name, _ := propertyName(p.Key)
				r.bind(p.Value, r.member(b, name), env)
			}
		}
		if t.Rest != nil {
			r.bind(t.Rest, &binding{}, env)
		}
	case *ast.ArrayPattern:
		for _, e := range t.Elements {
			r.bind(e, &binding{}, env)
		}
		if t.Rest != nil {
			r.bind(t.Rest, &binding{}, env)
		}
	case *ast.AssignExpression:
		r.bind(t.Left, b, env)
	case *ast.Binding:
		r.bind(t.Target, b, env)
	}
}

// member returns the member of a value that a pattern takes: the export of a module, or an unknown value.
func (r *jsReader) member(b *binding, name string) *binding {
	if b.value != nil {
		if v := r.resolve(b.value, b.env, 0); v.from != nil && (v.from.name == "*" || v.from.name == "default") {
			return &binding{from: &imported{v.from.module, name}}
		}
	}
	return &binding{}
}

// declare declares the names of a block before its statements are visited, as JavaScript does.
func (r *jsReader) declare(list []ast.Statement, env *scope) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.FunctionDeclaration:
			r.declareFunction(s.Function, env)
		case *ast.ClassDeclaration:
			if s.Class.Name != nil {
				env.names[s.Class.Name.Name.String()] = &binding{}
			}
		case *ast.VariableStatement:
			r.declareVariables(s.List, env)
		case *ast.LexicalDeclaration:
			r.declareVariables(s.List, env)
		case *ast.ImportDeclaration:
			r.declareImport(s, env)
		case *ast.ExportDeclaration:
			if s.Variable != nil {
				r.declareVariables(s.Variable.List, env)
			}
			if s.LexicalDeclaration != nil {
				r.declareVariables(s.LexicalDeclaration.List, env)
			}
			if s.HoistableDeclaration != nil && s.HoistableDeclaration.FunctionDeclaration != nil {
				r.declareFunction(s.HoistableDeclaration.FunctionDeclaration.Function, env)
			}
		}
	}
}

func (r *jsReader) declareFunction(f *ast.FunctionLiteral, env *scope) {
	fn := r.function(f, env)
	if f.Name != nil {
		env.names[f.Name.Name.String()] = &binding{fn: fn}
	}
}

func (r *jsReader) declareVariables(list []*ast.Binding, env *scope) {
	for _, b := range list {
		r.bind(b.Target, &binding{value: b.Initializer, env: env}, env)
	}
}

func (r *jsReader) declareImport(s *ast.ImportDeclaration, env *scope) {
	if s.ImportClause == nil || s.FromClause == nil {
		return
	}
	module, c := s.FromClause.ModuleSpecifier.String(), s.ImportClause
	if c.ImportedDefaultBinding != nil {
		env.names[c.ImportedDefaultBinding.Name.String()] = &binding{from: &imported{module, "default"}}
	}
	if c.NameSpaceImport != nil {
		env.names[c.NameSpaceImport.ImportedBinding.String()] = &binding{from: &imported{module, "*"}}
	}
	if c.NamedImports != nil {
		for _, x := range c.NamedImports.ImportsList {
			local := x.Alias.String()
			if local == "" {
				local = x.IdentifierName.String()
			}
			env.names[local] = &binding{from: &imported{module, x.IdentifierName.String()}}
		}
	}
}

// function returns the function of a literal.
func (r *jsReader) function(n ast.Node, env *scope) *jsFunc {
	if fn, ok := r.functions[n]; ok {
		return fn
	}
	fn := &jsFunc{node: n, env: env}
	switch n := n.(type) {
	case *ast.FunctionLiteral:
		fn.params, fn.body = n.ParameterList, n.Body
	case *ast.ArrowFunctionLiteral:
		fn.params = n.ParameterList
		switch b := n.Body.(type) {
		case *ast.BlockStatement:
			fn.body = b
		case *ast.ExpressionBody:
			fn.body = b.Expression
		}
	default:
		return nil
	}
	r.functions[n] = fn
	r.order = append(r.order, fn)
	return fn
}

// value is the result of following an expression through names, as far as it is known.
type value struct {
	from    *imported
	fn      *jsFunc
	context bool
	global  string         // a name that the file does not declare
	expr    ast.Expression // the expression without names; nil if unknown
	env     *scope
}

// resolve follows names to what they stand for.
func (r *jsReader) resolve(e ast.Expression, env *scope, depth int) value {
	if e == nil || depth > deepest {
		return value{}
	}
	switch x := e.(type) {
	case *ast.Identifier:
		b := env.lookup(x.Name.String())
		switch {
		case b == nil:
			return value{global: x.Name.String(), expr: x, env: env}
		case b.context, b.from != nil, b.fn != nil:
			return value{context: b.context, from: b.from, fn: b.fn, expr: x, env: env}
		case b.value != nil:
			return r.resolve(b.value, b.env, depth+1)
		}
		return value{}
	case *ast.DotExpression:
		left, name := r.resolve(x.Left, env, depth+1), x.Identifier.Name.String()
		switch {
		case left.global != "":
			return value{global: left.global + "." + name, expr: x, env: env}
		case left.from != nil && (left.from.name == "*" || left.from.name == "default"):
			return value{from: &imported{left.from.module, name}, expr: x, env: env}
		case left.from != nil:
			return value{from: &imported{left.from.module, left.from.name + "." + name}, expr: x, env: env}
		}
		if o, ok := left.expr.(*ast.ObjectLiteral); ok {
			if v, found, _ := r.property(o, left.env, name); found {
				return r.resolve(v.expr, v.env, depth+1)
			}
		}
		return value{expr: x, env: env}
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		return value{fn: r.function(x, env), expr: x, env: env}
	case *ast.AwaitExpression:
		return r.resolve(x.Argument, env, depth+1)
	case *ast.OptionalChain:
		return r.resolve(x.Expression, env, depth+1)
	case *ast.Optional:
		return r.resolve(x.Expression, env, depth+1)
	case *ast.SequenceExpression:
		return r.resolve(x.Sequence[len(x.Sequence)-1], env, depth+1)
	case *ast.CallExpression:
		if v := r.resolve(x.Callee, env, depth+1); v.global == "require" && len(x.ArgumentList) == 1 {
			if s, ok := x.ArgumentList[0].(*ast.StringLiteral); ok {
				return value{from: &imported{s.Value.String(), "*"}, expr: x, env: env}
			}
		}
	}
	return value{expr: e, env: env}
}

// property returns a member of an object literal. found is false if it is missing, and open is true if it may come from
// a spread of something unknown.
func (r *jsReader) property(o *ast.ObjectLiteral, env *scope, name string) (v value, found, open bool) {
	for i := len(o.Value) - 1; i >= 0; i-- { // the last one counts
		switch p := o.Value[i].(type) {
		case *ast.PropertyShort:
			if p.Name.Name.String() == name {
				return value{expr: &p.Name, env: env}, true, false
			}
		case *ast.PropertyKeyed:
			if key, ok := propertyName(p.Key); ok && strings.EqualFold(key, name) {
				return value{expr: p.Value, env: env}, true, false
			} else if !ok {
				open = true
			}
		case *ast.SpreadElement:
			of := r.resolve(p.Expression, env, 0)
			inside, ok := of.expr.(*ast.ObjectLiteral)
			if !ok {
				open = true
				continue
			}
			if v, found, more := r.property(inside, of.env, name); found {
				return v, true, false
			} else if more {
				open = true
			}
		}
	}
	return value{}, false, open
}

// propertyName returns the name of a key that is not computed.
func propertyName(key ast.Expression) (string, bool) {
	switch k := key.(type) {
	case *ast.StringLiteral:
		return k.Value.String(), true
	case *ast.Identifier:
		return k.Name.String(), true
	}
	return "", false
}
