package wings_test

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// limitRow matches a row of docs/limits.md: its value and the constant that enforces it.
var limitRow = regexp.MustCompile("^\\|[^|]+\\|[^|]+\\| (\\d+) \\|[^|]+\\| `([a-z0-9/]+)` `(\\w+)` \\|")

// TestLimits compares the values in docs/limits.md with the constants that it names.
func TestLimits(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(page)) {
		if !strings.Contains(line, "`") || !strings.HasPrefix(line, "| ") {
			continue
		}
		row := limitRow.FindStringSubmatch(line)
		if row == nil {
			t.Errorf("not a row with a value and a constant: %s", line)
			continue
		}
		rows++
		if got := constantOf(t, row[2], row[3]); got != row[1] {
			t.Errorf("%s.%s is %s, and %s in docs/limits.md", row[2], row[3], got, row[1])
		}
	}
	if rows < 50 {
		t.Errorf("%d rows were read", rows)
	}
}

// constantOf returns the value of a package's constant, or "" if there is none.
func constantOf(t *testing.T, folder, name string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		value := ""
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok {
				for i, id := range spec.Names {
					if id.Name == name && i < len(spec.Values) {
						value = evaluated(t, spec.Values[i])
					}
				}
			}
			return true
		})
		if value != "" {
			return value
		}
	}
	return ""
}

func evaluated(t *testing.T, e ast.Expr) string {
	t.Helper()
	v, err := types.Eval(token.NewFileSet(), nil, token.NoPos, types.ExprString(e))
	if err != nil || v.Value == nil {
		t.Errorf("%s: %v", types.ExprString(e), err)
		return ""
	}
	return constant.ToInt(v.Value).ExactString()
}
