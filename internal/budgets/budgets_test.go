package budgets_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stepback/internal/budgets"
)

var update = flag.Bool("update", false, "write the page")

const page = "../../docs/budgets.md"

// TestPage compares docs/budgets.md with the budgets.
func TestPage(t *testing.T) {
	t.Parallel()
	if *update {
		if err := os.WriteFile(page, []byte(current()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(page)
	if err != nil || string(text) != current() {
		t.Errorf("docs/budgets.md is not current (%v): run go generate ./internal/budgets", err)
	}
}

// TestEnforced finds each budget in the one file that it names.
func TestEnforced(t *testing.T) {
	t.Parallel()
	used := map[string][]string{} // files by value and unit, which are different for each budget in a file
	mention := regexp.MustCompile(`budgets\.([A-Z]\w+)\.Value`)
	for _, wing := range []string{"aws", "asl", "engine", "local", "tasks"} {
		if err := filepath.WalkDir(filepath.Join("../..", wing), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range mention.FindAllStringSubmatch(string(text), -1) {
				name := strings.TrimPrefix(filepath.ToSlash(path), "../../")
				if !slices.Contains(used[m[1]], name) {
					used[m[1]] = append(used[m[1]], name)
				}
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	source, err := os.ReadFile("budgets.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^\t(\w+)\s+= &Budget\{"([^"]+)"`).FindAllStringSubmatch(string(source), -1)
	all := budgets.All()
	if len(declared) != len(all) || len(used) != len(all) {
		t.Fatalf("%d budgets are declared, %d listed and %d used", len(declared), len(all), len(used))
	}
	for _, d := range declared {
		i := slices.IndexFunc(all, func(b *budgets.Budget) bool { return b.Bounds == d[2] })
		if i < 0 || !reflect.DeepEqual(used[d[1]], []string{all[i].Enforced}) {
			t.Errorf("%s is read by %v, want the one file that it names", d[1], used[d[1]])
		}
	}
}

// current returns docs/budgets.md as it should be.
func current() string {
	var b strings.Builder
	b.WriteString(`# Budgets

Limits that bound the work and the memory of one request, expression or operation, so that no input can stop the process.
They are not settings. Package ` + "`internal/budgets`" + ` has them, and ` + "`make generate`" + ` writes this page. Quotas of AWS are in
[limits.md](limits.md).

| what is bounded | value | unit | source | enforced by |
|---|---:|---|---|---|
`)
	for _, x := range budgets.All() {
		fmt.Fprintf(&b, "| %s | %d | %s | %s | `%s` |\n", x.Bounds, x.Value, x.Unit, x.Source, x.Enforced)
	}
	return b.String()
}
