package handlers

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"path"
	"strconv"
	"strings"

	"stepback/asl"
	"stepback/asl/source"
	"stepback/internal/lazyregexp"
)

// golang reads a file in Go. It returns the syntax errors.
func (f *file) golang() []asl.Diagnostic {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, path.Base(f.name), f.text, parser.SkipObjectResolution)
	if err != nil {
		var list scanner.ErrorList
		if !errors.As(err, &list) {
			return []asl.Diagnostic{f.diagnostic(asl.SeverityError, SyntaxError, f.word(0), "", "", err.Error())}
		}
		found := make([]asl.Diagnostic, 0, len(list))
		for _, e := range list {
			found = append(found, f.diagnostic(asl.SeverityError, SyntaxError, f.word(e.Pos.Offset), "", "", e.Msg))
		}
		return found
	}
	g := &goReader{file: f, set: set, base: set.File(tree.FileStart), tree: tree, values: map[types.Object]ast.Expr{},
		functions: map[types.Object]*ast.FuncDecl{}, followed: map[goVisit]bool{}, inDurable: map[ast.Node]bool{},
		info: &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}}
	// The packages that the file imports are not read: only names are resolved, so other errors mean nothing.
	check := types.Config{Importer: names{}, Error: func(error) {}, DisableUnusedImportCheck: true}
	_, _ = check.Check(tree.Name.Name, set, []*ast.File{tree}, g.info)
	g.program()
	return nil
}

// names is an importer of packages without contents.
type names struct{}

var majorVersion = lazyregexp.New(`^v[0-9]+$`)

// Import implements types.Importer.
func (names) Import(of string) (*types.Package, error) {
	base := path.Base(of)
	if majorVersion.MatchString(base) {
		base = path.Base(path.Dir(of))
	}
	p := types.NewPackage(of, base)
	p.MarkComplete()
	return p, nil
}

// goReader collects facts from a file in Go.
type goReader struct {
	*file

	set  *token.FileSet
	base *token.File
	tree *ast.File
	info *types.Info

	values    map[types.Object]ast.Expr      // what variables and constants are defined as
	functions map[types.Object]*ast.FuncDecl // of the file, methods aside
	followed  map[goVisit]bool
	inDurable map[ast.Node]bool
	attempts  map[string]int // of AWS clients, by their package; "" for all
}

// goVisit identifies a function, and where it runs.
type goVisit struct {
	function ast.Node
	step     *step
}

// goPlace is where code runs.
type goPlace struct {
	step   *step
	around []*step
	loop   *loop
	via    int
	depth  int
	body   *ast.BlockStmt // the innermost function's
}

func (g *goReader) offset(p token.Pos) int { return g.base.Offset(p) }

func (g *goReader) span(n ast.Node) source.Span { return g.word(g.offset(n.Pos())) }

// program finds the functions with a durable context and visits them.
func (g *goReader) program() {
	g.attempts = map[string]int{}
	ast.Inspect(g.tree, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.AssignStmt:
			for i, left := range x.Lhs {
				if id, ok := left.(*ast.Ident); ok && x.Tok == token.DEFINE {
					if right := min(i, len(x.Rhs)-1); i == right || i == 0 {
						g.values[g.info.Defs[id]] = x.Rhs[right]
					}
				}
			}
		case *ast.ValueSpec:
			for i, id := range x.Names {
				if i < len(x.Values) {
					g.values[g.info.Defs[id]] = x.Values[i]
				}
			}
		case *ast.FuncDecl:
			if x.Recv == nil {
				g.functions[g.info.Defs[x.Name]] = x
			}
		case *ast.CallExpr:
			g.clientAttempts(x)
		}
		return true
	})
	delete(g.values, nil)
	ast.Inspect(g.tree, func(n ast.Node) bool {
		kind, body := functionOf(n)
		if kind == nil || !g.receives(kind, "Context") || g.inDurable[n] || body == nil {
			return true
		}
		g.file.functions++
		g.run(n, goPlace{})
		return true
	})
}

// functionOf returns the type and the body of a function; nil for other nodes.
func functionOf(n ast.Node) (*ast.FuncType, *ast.BlockStmt) {
	switch x := n.(type) {
	case *ast.FuncDecl:
		return x.Type, x.Body
	case *ast.FuncLit:
		return x.Type, x.Body
	}
	return nil, nil
}

// receives reports whether a function has a parameter of a type of the SDK.
func (g *goReader) receives(kind *ast.FuncType, name string) bool {
	for _, p := range kind.Params.List {
		if s, ok := p.Type.(*ast.SelectorExpr); ok && s.Sel.Name == name && g.packageOf(s.X) == sdkOfGo {
			return true
		}
	}
	return false
}

// packageOf returns the path of the package that an expression names; "" for other expressions.
func (g *goReader) packageOf(e ast.Expr) string {
	if id, ok := e.(*ast.Ident); ok {
		if p, ok := g.info.Uses[id].(*types.PkgName); ok {
			return p.Imported().Path()
		}
	}
	return ""
}

// named returns the package and the name of a function of another package; "" for other expressions.
func (g *goReader) named(e ast.Expr) (of, name string) {
	switch x := e.(type) {
	case *ast.ParenExpr:
		return g.named(x.X)
	case *ast.IndexExpr:
		return g.named(x.X)
	case *ast.IndexListExpr:
		return g.named(x.X)
	case *ast.SelectorExpr:
		if p := g.packageOf(x.X); p != "" {
			return p, x.Sel.Name
		}
	}
	return "", ""
}

// resolve follows names of variables to what they are defined as.
func (g *goReader) resolve(e ast.Expr) ast.Expr {
	for range deepest {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
			continue
		case *ast.UnaryExpr:
			if x.Op == token.AND {
				e = x.X
				continue
			}
		case *ast.Ident:
			if v, ok := g.values[g.info.Uses[x]]; ok {
				e = v
				continue
			}
		}
		return e
	}
	return e
}

// function returns the function that an expression stands for: a literal, or one of the file; nil if it is unknown.
func (g *goReader) function(e ast.Expr) ast.Node {
	switch x := g.resolve(e).(type) {
	case *ast.FuncLit:
		return x
	case *ast.IndexExpr:
		return g.function(x.X)
	case *ast.Ident:
		if d, ok := g.functions[g.info.Uses[x]]; ok {
			return d
		}
	}
	return nil
}

// run visits a function's body.
func (g *goReader) run(fn ast.Node, at goPlace) {
	_, body := functionOf(fn)
	key := goVisit{fn, at.step}
	if body == nil || g.followed[key] || at.depth > deepest {
		return
	}
	g.followed[key], g.inDurable[fn] = true, true
	at.depth++
	at.body = body
	g.visit(body, at)
}

// visit collects the facts of a node and of what it contains.
func (g *goReader) visit(n ast.Node, at goPlace) {
	ast.Inspect(n, func(x ast.Node) bool {
		if x == n {
			return true
		}
		switch x := x.(type) {
		case *ast.FuncLit: // runs where it is called
			return false
		case *ast.CallExpr:
			g.call(x, at)
			return false
		case *ast.GoStmt:
			if at.step == nil {
				g.called(call{kind: impure, what: "the order of goroutines", at: g.span(x), via: at.via})
			}
		case *ast.ForStmt:
			if at.step == nil && at.loop == nil {
				if l := g.retrying(x); l != nil {
					g.loops = append(g.loops, l)
					inside := at
					inside.loop = l
					g.visit(x, inside)
					return false
				}
			}
		}
		return true
	})
}

// retrying returns the loop if it repeats operations until one succeeds: it ends if an error is nil, or continues if it
// is not. It returns nil for other loops.
func (g *goReader) retrying(x *ast.ForStmt) *loop {
	operates, succeeds := false, false
	exits := 0 // return and break, where the error is not nil or unknown
	var look func(n ast.Node, success bool)
	look = func(n ast.Node, success bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.CallExpr:
				of, name := g.named(x.Fun)
				operates = operates || of == sdkOfGo && operations[name]
			case *ast.IfStmt:
				compared, isNil := comparesError(x.Cond)
				if !compared {
					return true
				}
				if x.Init != nil {
					look(x.Init, success)
				}
				look(x.Body, isNil)
				if x.Else != nil {
					look(x.Else, !isNil)
				}
				succeeds = succeeds || isNil && leavesLoop(x.Body) || !isNil && continuesLoop(x.Body)
				return false
			case *ast.ReturnStmt:
				if !success {
					exits++
				}
			case *ast.BranchStmt:
				if x.Tok == token.BREAK && !success {
					exits++
				}
			}
			return true
		})
	}
	look(x.Body, false)
	last := len(x.Body.List) - 1
	if !operates || !succeeds {
		return nil
	}
	if last >= 0 && leavesLoop(&ast.BlockStmt{List: x.Body.List[last:]}) {
		exits-- // after the error was nil
	}
	return &loop{at: g.span(x), endless: x.Cond == nil && exits <= 0}
}

// comparesError reports whether a condition compares a variable with nil, and whether it is true for nil.
func comparesError(e ast.Expr) (compares, isNil bool) {
	b, ok := e.(*ast.BinaryExpr)
	if !ok || b.Op != token.EQL && b.Op != token.NEQ {
		return false, false
	}
	id, ok := b.Y.(*ast.Ident)
	return ok && id.Name == "nil", b.Op == token.EQL
}

func leavesLoop(b *ast.BlockStmt) bool {
	for _, s := range b.List {
		switch s := s.(type) {
		case *ast.ReturnStmt:
			return true
		case *ast.BranchStmt:
			return s.Tok == token.BREAK
		}
	}
	return false
}

func continuesLoop(b *ast.BlockStmt) bool {
	for _, s := range b.List {
		if branch, ok := s.(*ast.BranchStmt); ok && branch.Tok == token.CONTINUE {
			return true
		}
	}
	return false
}

// operations are the functions of the SDK that create durable operations.
var operations = map[string]bool{"Step": true, "StepAsync": true, "Wait": true, "WaitAsync": true, "Invoke": true, "InvokeAsync": true,
	"RunInChildContext": true, "RunInChildContextAsync": true, "Go": true, "WaitForCondition": true, "CreateCallback": true,
	"WaitForCallback": true, "Map": true, "Parallel": true, "Select": true, "Retry": true}

// literal returns the text of a string literal.
func literal(e ast.Expr) (string, bool) {
	b, ok := e.(*ast.BasicLit)
	if !ok || b.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(b.Value)
	return text, err == nil
}

// members returns the members of a composite literal by their names; nil for other expressions.
func (g *goReader) members(e ast.Expr) map[string]ast.Expr {
	c, ok := g.resolve(e).(*ast.CompositeLit)
	if !ok {
		return nil
	}
	all := map[string]ast.Expr{}
	for _, x := range c.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); ok {
				all[key.Name] = kv.Value
			}
		}
	}
	return all
}

// isStandard reports whether a package is one of Go's own.
func isStandard(of string) bool {
	first, _, _ := strings.Cut(of, "/")
	return !strings.Contains(first, ".")
}
