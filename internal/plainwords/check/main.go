// Command check prints the phrases that package plainwords rejects in the comments of Go files and in pages of Markdown,
// and ends with 1 if there are any:
//
//	go run ./internal/plainwords/check
//
// It reads the files that git tracks below the working directory, without testdata.
package main

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
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
	list := exec.Command("git", "ls-files", "-z", "*.go", "*.md") //nolint:noctx // it ends by itself
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
	if filepath.Ext(name) == ".md" {
		return plainwords.Text(string(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))), nil
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return plainwords.Comments(fset, file), nil
}
