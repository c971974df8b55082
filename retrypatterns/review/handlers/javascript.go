//go:build !lean

package handlers

import (
	"errors"
	"fmt"
	"path"
	"reflect"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/go-sourcemap/sourcemap"
	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/parser"
	"github.com/grafana/sobek/token"

	"stepback/asl"
	"stepback/asl/source"
)

// readsJavaScript is true: this build has the parsers of JavaScript and TypeScript.
const readsJavaScript = true

// javaScript reads a file in JavaScript or TypeScript. It returns the syntax errors.
func (f *file) javaScript() []asl.Diagnostic {
	loader := map[string]api.Loader{".ts": api.LoaderTS, ".mts": api.LoaderTS, ".cts": api.LoaderTS, ".tsx": api.LoaderTSX}[path.Ext(f.name)]
	if loader == api.LoaderNone {
		loader = api.LoaderJSX
	}
	plain := api.Transform(f.text, api.TransformOptions{
		Loader:         loader,
		Sourcemap:      api.SourceMapExternal,
		Sourcefile:     "source",
		SourcesContent: api.SourcesContentExclude,
		Target:         api.ESNext,
		JSX:            api.JSXTransform,
		LogLevel:       api.LogLevelSilent,
		Charset:        api.CharsetUTF8,
		// What the parser does not know is written in older terms.
		Supported: map[string]bool{"for-await": false, "using": false, "import-attributes": false, "decorators": false,
			"hashbang": false},
		TsconfigRaw: `{"compilerOptions": {"verbatimModuleSyntax": false, "experimentalDecorators": true}}`,
	})
	if len(plain.Errors) > 0 {
		return f.syntaxErrors(plain.Errors)
	}
	text := string(plain.Code)
	if strings.TrimSpace(text) == "" { // only types
		return nil
	}
	program, err := parser.ParseFile(nil, "", text, 0, parser.IsModule, parser.WithDisableSourceMaps)
	if err != nil {
		var list parser.ErrorList
		message, at := err.Error(), 0
		positions, wrong := newPositions(f, text, plain.Map)
		if errors.As(err, &list) && len(list) > 0 && wrong == nil {
			message, at = list[0].Message, positions.original(
				offsetOf(text, list[0].Position.Line, list[0].Position.Column),
			)
		}
		return []asl.Diagnostic{f.diagnostic(asl.SeverityError, SyntaxError, f.word(at), "", "", message)}
	}
	positions, err := newPositions(f, text, plain.Map)
	if err != nil {
		return []asl.Diagnostic{f.diagnostic(asl.SeverityError, SyntaxError, f.word(0), "", "", err.Error())}
	}
	r := &jsReader{file: f, positions: positions, followed: map[visit]bool{}, functions: map[ast.Node]*jsFunc{}}
	r.program(program)
	return nil
}

// syntaxErrors returns esbuild's errors.
func (f *file) syntaxErrors(errs []api.Message) []asl.Diagnostic {
	found := make([]asl.Diagnostic, 0, len(errs))
	for _, e := range errs {
		at := 0
		if l := e.Location; l != nil {
			at = f.lines.Offset(source.Position{Line: l.Line, Column: 1}) + l.Column
		}
		found = append(found, f.diagnostic(asl.SeverityError, SyntaxError, f.word(at), "", "", e.Text))
	}
	return found
}

// offsetOf returns the offset of a line and a column, counted from 1.
func offsetOf(text string, line, column int) int {
	return source.NewLines(text).Offset(source.Position{Line: line, Column: column})
}

// positions converts positions in the text that esbuild wrote to those in the file.
type positions struct {
	file   *file
	text   string
	starts []int // of the lines of text
	lines  []int // of the lines of the file
	to     *sourcemap.Consumer
}

func newPositions(f *file, text string, mapping []byte) (*positions, error) {
	to, err := sourcemap.Parse("", mapping)
	if err != nil {
		return nil, fmt.Errorf("esbuild's source map cannot be read: %w", err)
	}
	return &positions{file: f, text: text, starts: starts(text), lines: starts(f.text), to: to}, nil
}

// starts returns the offsets of a text's lines.
func starts(text string) []int {
	all := []int{0}
	for i := range len(text) {
		if text[i] == '\n' {
			all = append(all, i+1)
		}
	}
	return all
}

// original returns the offset in the file of an offset in the text; 0 if it has none.
func (p *positions) original(offset int) int {
	offset = max(0, min(offset, len(p.text)))
	line := sort.SearchInts(p.starts, offset+1)
	column := 0 // source maps count in UTF-16
	for _, r := range p.text[p.starts[line-1]:offset] {
		column += utf16Length(r)
	}
	_, _, line, column, ok := p.to.Source(line, column)
	if !ok || line < 1 || line > len(p.lines) {
		return 0
	}
	at := p.lines[line-1]
	for column > 0 && at < len(p.file.text) {
		r, size := utf8.DecodeRuneInString(p.file.text[at:])
		column -= utf16Length(r)
		at += size
	}
	return at
}

func utf16Length(r rune) int {
	if r >= 0x10000 {
		return 2
	}
	return 1
}

// span returns the position of a node in the file.
func (r *jsReader) span(n ast.Node) source.Span { return r.word(r.original(int(n.Idx0()) - 1)) }

// jsReader collects facts from a program.
type jsReader struct {
	*file
	*positions

	followed  map[visit]bool
	functions map[ast.Node]*jsFunc // all functions, by their node
	order     []*jsFunc
	inDurable map[ast.Node]bool // functions that durable code runs
}

// visit identifies a function, and where it runs.
type visit struct {
	function ast.Node
	step     *step
	durable  bool
}

// scope holds the names of a function or block.
type scope struct {
	parent *scope
	names  map[string]*binding
}

// binding holds the definition of a name, as far as it is known.
type binding struct {
	value ast.Expression // nil if unknown
	env   *scope         // in which value is evaluated
	from  *imported
	fn    *jsFunc
	// context is true for a durable context.
	context bool
}

// imported is an export of a module: its name, "default", or "*" for all of them.
type imported struct{ module, name string }

// jsFunc is a function with the scope in which it is written.
type jsFunc struct {
	node   ast.Node
	params *ast.ParameterList
	body   ast.Node
	env    *scope
}

// place is where code runs.
type place struct {
	env     *scope
	durable bool // code of a durable function
	step    *step
	around  []*step
	loop    *loop
	via     int
	depth   int
}

func (s *scope) lookup(name string) *binding {
	for ; s != nil; s = s.parent {
		if b, ok := s.names[name]; ok {
			return b
		}
	}
	return nil
}

func inner(parent *scope) *scope { return &scope{parent: parent, names: map[string]*binding{}} }

// program visits the program, the functions that the SDK wraps, and then the functions that only their use of a durable
// context shows.
func (r *jsReader) program(p *ast.Program) {
	r.inDurable = map[ast.Node]bool{}
	top := inner(nil)
	r.declare(p.Body, top)
	for _, s := range p.Body {
		r.visit(s, place{env: top})
	}
	for i := 0; i < len(r.order); i++ { //nolint:intrange // grows while functions are visited
		fn := r.order[i]
		if r.inDurable[fn.node] || fn.params == nil {
			continue
		}
		for n, p := range fn.params.List {
			if name, ok := p.Target.(*ast.Identifier); ok && usesContext(fn.body, name.Name.String()) {
				r.file.functions++
				r.runs(fn, n, place{durable: true})
				break
			}
		}
	}
}

// contextOperations are operations of a durable context whose names are not those of common methods.
var contextOperations = map[string]bool{"step": true, "runInChildContext": true, "waitForCallback": true,
	"waitForCondition": true, "createCallback": true}

// usesContext reports whether a body calls an operation of a durable context on a name.
func usesContext(body ast.Node, name string) (uses bool) {
	var look func(n ast.Node)
	look = func(n ast.Node) {
		if c, ok := n.(*ast.CallExpression); ok {
			if d, ok := c.Callee.(*ast.DotExpression); ok && contextOperations[d.Identifier.Name.String()] {
				if x, ok := d.Left.(*ast.Identifier); ok && x.Name.String() == name {
					uses = true
				}
			}
		}
		if !uses {
			children(n, look)
		}
	}
	look(body)
	return uses
}

// runs visits a function whose parameter with the number context is a durable context; -1 if none is.
func (r *jsReader) runs(fn *jsFunc, context int, at place, args ...ast.Expression) {
	key := visit{fn.node, at.step, at.durable}
	if r.followed[key] || at.depth > deepest {
		return
	}
	r.followed[key] = true
	if at.durable {
		r.inDurable[fn.node] = true
	}
	from := at.env
	at.env, at.depth = inner(fn.env), at.depth+1
	if fn.params != nil {
		for i, p := range fn.params.List {
			b := &binding{context: i == context}
			if i < len(args) && context < 0 {
				b.value, b.env = args[i], from
				if v := r.resolve(args[i], from, 0); v.context {
					b = &binding{context: true}
				}
			}
			if b.value == nil && !b.context && p.Initializer != nil {
				b.value, b.env = p.Initializer, fn.env
			}
			r.bind(p.Target, b, at.env)
			if p.Initializer != nil {
				r.visit(p.Initializer, at)
			}
		}
		if fn.params.Rest != nil {
			r.bind(fn.params.Rest, &binding{}, at.env)
		}
	}
	r.visit(fn.body, at)
}

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
