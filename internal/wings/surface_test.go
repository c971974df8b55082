package wings_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// shownAnyway are the files that show a type of an internal package, and why they may.
var shownAnyway = map[string]string{
	"adaptive/lab/scenario/policy.go":          "reads a part of the laboratory's own files, which only the laboratory parses",
	"outbox/deadletters/startevents/events.go": "keeps the events that the CSV import's own bucket sends",
}

// TestNoInternalTypeInPublicNames reads the exported declarations of the packages that other modules import.
// None may be an alias of a type in an internal package, or have one in a signature, a field or a constant: its
// documentation and its promise would be in a place that the importer cannot see.
func TestNoInternalTypeInPublicNames(t *testing.T) {
	t.Parallel()
	const root = "../.."
	files := 0
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if entry.IsDir() {
			top, _, _ := strings.Cut(name, "/")
			if entry.Name() == "internal" || entry.Name() == "testdata" || !slices.Contains(linkFolders, top) {
				return filepath.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if f.Name.Name == "main" {
			return nil
		}
		files++
		found := leaks(f)
		if shownAnyway[name] != "" {
			if len(found) == 0 {
				t.Errorf("%s shows no internal type any more: take it off the list", name)
			}
			return nil
		}
		for _, leak := range found {
			p := fset.Position(leak.Pos())
			t.Errorf("%s:%d: an exported name shows %s.%s of an internal package", name, p.Line, leak.X, leak.Sel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 {
		t.Errorf("only %d files were read", files)
	}
}

// leaks returns where exported declarations of a file name something in an internal package.
func leaks(f *ast.File) []*ast.SelectorExpr {
	hidden := map[string]bool{}
	for _, i := range f.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		name := path.Base(p)
		if i.Name != nil {
			name = i.Name.Name
		}
		hidden[name] = slices.Contains(strings.Split(p, "/"), "internal")
	}
	var found []*ast.SelectorExpr
	look := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				if len(n.Names) > 0 && !slices.ContainsFunc(n.Names, (*ast.Ident).IsExported) {
					return false
				}
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && hidden[x.Name] {
					found = append(found, n)
				}
			}
			return true
		})
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && receiverIsExported(d) {
				lookAtSignature(d.Type, look)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						look(s.Type)
					}
				case *ast.ValueSpec:
					if slices.ContainsFunc(s.Names, (*ast.Ident).IsExported) {
						look(s)
					}
				}
			}
		}
	}
	return found
}

// lookAtSignature looks at the types of parameters, which have names of their own, and of results.
func lookAtSignature(f *ast.FuncType, look func(ast.Node)) {
	for _, list := range []*ast.FieldList{f.TypeParams, f.Params, f.Results} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			look(field.Type)
		}
	}
}

func receiverIsExported(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if index, ok := t.(*ast.IndexExpr); ok {
		t = index.X
	}
	name, ok := t.(*ast.Ident)
	return ok && name.IsExported()
}
