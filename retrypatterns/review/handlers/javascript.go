//go:build !lean

package handlers

import (
	"errors"
	"fmt"
	"path"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/go-sourcemap/sourcemap"
	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/parser"

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

// original converts an offset in the text to the offset in the file; 0 if it has none.
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
