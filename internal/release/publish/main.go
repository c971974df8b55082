// Command publish changes the path of the module to the one under which its owner publishes it. It rewrites the
// module lines, the imports and the other places in the repository that name the path, and leaves everything else
// unchanged.
//
//	go run ./release/publish -module github.com/you/stepback -dir COPY
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

func main() {
	module := flag.String("module", "", "the new module path, such as github.com/you/stepback")
	dir := flag.String("dir", ".", "the root of the repository to rewrite")
	flag.Parse()
	changed, err := publish(*dir, *module)
	if err != nil {
		fmt.Fprintln(os.Stderr, "publish:", err)
		os.Exit(1)
	}
	fmt.Fprintf(os.Stderr, "publish: %d files name %s now\n", changed, *module)
}

// modulePath matches module paths that can be fetched: the first element is a host name.
var modulePath = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)+(/[A-Za-z0-9._~-]+)+$`)

// publish rewrites the files below a directory and returns the number of changed files.
func publish(dir, module string) (changed int, err error) {
	if !modulePath.MatchString(module) {
		return 0, fmt.Errorf("%q cannot be fetched as a module path: it must begin with a host, as in github.com/you/stepback",
			module)
	}
	old, err := pathOf(filepath.Join(dir, "go.mod"))
	if err != nil {
		return 0, err
	}
	r := rewriter{old: old, module: module, dir: dir}
	if r.rooms, err = roomsOf(dir); err != nil {
		return 0, err
	}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "node_modules" || entry.Name() == "vendor"):
			return filepath.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		did, err := r.file(path)
		if did {
			changed++
		}
		return err
	})
	return changed, err
}

// pathOf returns the module path that a go.mod declares.
func pathOf(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(path), nil
		}
	}
	return "", errors.New(file + " declares no module")
}

// roomsOf returns a pattern of the folders at the root, which distinguishes package paths of the module from other
// text.
func roomsOf(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, regexp.QuoteMeta(e.Name()))
		}
	}
	return strings.Join(names, "|"), nil
}

type rewriter struct{ old, module, dir, rooms string }

// file rewrites one file, if it contains the module path.
func (r *rewriter) file(path string) (bool, error) {
	rewrite := r.of(filepath.Base(path))
	if rewrite == nil {
		return false, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	out, err := rewrite(text)
	if err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	if bytes.Equal(out, text) {
		return false, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	return true, os.WriteFile(path, out, info.Mode().Perm())
}

// of returns the function that rewrites files with this name; nil if they are not rewritten.
func (r *rewriter) of(name string) func([]byte) ([]byte, error) {
	switch {
	case filepath.Ext(name) == ".go":
		return r.source
	case name == "go.mod":
		return r.modFile
	case name == ".golangci.yml", filepath.Ext(name) == ".md", filepath.Ext(name) == ".sh", name == "Makefile":
		return func(text []byte) ([]byte, error) { return r.importPaths(text), nil }
	default:
		return nil
	}
}

// source rewrites the imports of a Go file, and the paths in its other strings.
func (r *rewriter) source(text []byte) ([]byte, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "", text, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return text, nil //nolint:nilerr // test data that is not meant to be read stays as it is
	}
	var out []byte
	last := 0
	for _, spec := range f.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		rest, inside := strings.CutPrefix(path, r.old)
		if !inside || rest != "" && rest[0] != '/' {
			continue
		}
		start, end := set.Position(spec.Path.Pos()).Offset, set.Position(spec.Path.End()).Offset
		out = append(append(out, text[last:start]...), strconv.Quote(r.module+rest)...)
		last = end
	}
	out = r.importPaths(append(out, text[last:]...))
	return format.Source(out)
}

// modFile rewrites the lines of a go.mod: this repository's module, its other modules, and their requirements.
func (r *rewriter) modFile(text []byte) ([]byte, error) {
	line := regexp.MustCompile(`(?m)^(module |\s*require |\s*replace |\t)` + regexp.QuoteMeta(r.old) + `(/\S*)?( |$)`)
	return line.ReplaceAll(text, []byte("${1}"+r.module+"${2}${3}")), nil
}

// importPaths rewrites import paths below the module path; the bare module path stays.
func (r *rewriter) importPaths(text []byte) []byte {
	path := regexp.MustCompile(`(^|[^\w./-])` + regexp.QuoteMeta(r.old) + `/(` + r.rooms + `)\b`)
	text = path.ReplaceAll(text, []byte("${1}"+r.module+"/${2}"))
	for _, whole := range []string{"local-prefixes: [%s]", "pkg: %s,", "(*%s/", "(%s/"} {
		text = bytes.ReplaceAll(text, fmt.Appendf(nil, whole, r.old), fmt.Appendf(nil, whole, r.module))
	}
	return text
}
