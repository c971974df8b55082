// Command check prints the phrases that package plainwords rejects, and ends with 1 if there are any:
//
//	go run ./internal/plainwords/check
//
// It reads the files that git tracks below the working directory, without testdata: the comments of Go files, the
// string literals of Go files that are not tests, the console's templates, and pages of Markdown. It does not check
// string literals below local/services, asl and aws, where AWS's own words are repeated.
package main

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"stepback/internal/plainwords"
)

func main() {
	found, err := check(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "plainwords:", err)
		os.Exit(2)
	}
	for _, line := range found {
		fmt.Fprintln(os.Stdout, line)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
}

// check returns a line for each finding below dir.
func check(dir string) ([]string, error) {
	list := exec.Command("git", "ls-files", "-z", "*.go", "*.md", //nolint:noctx // it ends by itself
		"local/console/templates/*.html")
	list.Dir = dir
	names, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	var lines []string
	for _, name := range strings.Split(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		if strings.Contains(name, "testdata/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		} else if err != nil {
			return nil, err
		}
		found, err := findings(name, text)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			lines = append(lines, fmt.Sprintf("%s:%d: %q: %s", name, f.Line, f.Phrase, f.Advice))
		}
	}
	return lines, nil
}

func findings(name string, text []byte) ([]plainwords.Finding, error) {
	switch path.Ext(name) {
	case ".md":
		return plainwords.Text(string(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))), nil
	case ".html":
		return plainwords.Template(string(text)), nil
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	found := plainwords.Comments(fset, file)
	if ownWords(name) {
		found = append(found, plainwords.Strings(fset, file)...)
	}
	return found, nil
}

// quoting lists the folders whose string literals are not checked, because they repeat AWS's words or contain the
// rejected phrases themselves.
var quoting = []string{"local/services/", "asl/", "aws/", "internal/plainwords/"}

// ownWords reports whether the string literals of a Go file are stepback's own words. Tests also quote others.
func ownWords(name string) bool {
	for _, dir := range quoting {
		if strings.HasPrefix(name, dir) {
			return false
		}
	}
	return !strings.HasSuffix(name, "_test.go")
}
