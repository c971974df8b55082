package wings_test

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated parts of ARCHITECTURE.md and docs/packages.md")

// root is the repository, and module its path.
const (
	root   = "../.."
	module = "stepback"
)

// floor is a group of wings for the same purpose.
type floor struct {
	purpose string
	wings   []string
}

// order has the floors and their wings from bottom to top: a wing imports only itself and wings before it. The wing "."
// is the root package.
var order = []floor{
	{"values, AWS's vocabulary, the language", []string{"jsonvalue", "internal", "aws", "asl"}},
	{"retries as data", []string{"retry", "retrypatterns", "statemachine"}},
	{"executions and their tasks", []string{"engine", "tasks"}},
	{"what retries did", []string{"retrymetrics", "alarms", "dashboards"}},
	{"libraries for your own calls", []string{"adaptive", "resilience", "outbox"}},
	{"the doors for Go programs and tests", []string{".", "stepbacktest"}},
	{"AWS on a laptop", []string{"local"}},
	{"the CSV import and its functions", []string{"csvimport", "lambdas", "localstack"}},
	{"programs and pages", []string{"bench", "docs", "cmd"}},
	{"the CSV import on AWS, a module of its own", []string{"cdk"}},
}

// modules are folders with a go.mod of their own, which the module of the root does not see. Only cdk is a wing.
var modules = []string{"cdk", "bench/resilience", "bench/river", "adaptive/lab/differential", "local/services/clients/gosdk", "internal/release/pack"}

// pkg is a Go package of the repository.
type pkg struct {
	dir      string // relative to the root, "." for the root package
	synopsis string
	main     bool
	imports  []string // directories of the packages it imports, without tests
}

// wing returns the top-level folder of a directory.
func wing(dir string) string {
	top, _, _ := strings.Cut(dir, "/")
	return top
}

// packages reads all packages of the repository, by directory. Files for any system count.
func packages(t *testing.T) map[string]*pkg {
	t.Helper()
	found := map[string]*pkg{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if file != root && (strings.HasPrefix(name, ".") || slices.Contains([]string{"node_modules", "testdata", "dist", "bin"}, name)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		relative, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(relative)
		if slices.ContainsFunc(modules, func(m string) bool { return m != "cdk" && (dir == m || strings.HasPrefix(dir, m+"/")) }) {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		p := found[dir]
		if p == nil {
			p = &pkg{dir: dir}
			found[dir] = p
		}
		p.add(parsed)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (p *pkg) add(file *ast.File) {
	p.main = p.main || file.Name.Name == "main"
	if file.Doc != nil {
		p.synopsis = new(doc.Package).Synopsis(file.Doc.Text())
	}
	for _, i := range file.Imports {
		name, _ := strconv.Unquote(i.Path.Value)
		if name == module {
			p.imports = append(p.imports, ".")
		} else if below, ok := strings.CutPrefix(name, module+"/"); ok {
			p.imports = append(p.imports, below)
		}
	}
}

// arrows returns which wing imports which others.
func arrows(all map[string]*pkg) map[string]map[string]bool {
	found := map[string]map[string]bool{}
	for _, p := range all {
		from := wing(p.dir)
		for _, i := range p.imports {
			if to := wing(i); to != from {
				if found[from] == nil {
					found[from] = map[string]bool{}
				}
				found[from][to] = true
			}
		}
	}
	return found
}

// The order allows no circle: of two wings, only the upper one imports the other.
func TestWings(t *testing.T) {
	t.Parallel()
	place := map[string]int{}
	for _, f := range order {
		for _, w := range f.wings {
			place[w] = len(place)
		}
	}
	all := packages(t)
	for _, p := range all {
		from := wing(p.dir)
		if _, ok := place[from]; !ok {
			t.Errorf("%s is in %s, which is not a wing: move it into one, or add %s to the order", p.dir, from, from)
			continue
		}
		for _, i := range p.imports {
			if to := wing(i); to != from && place[to] > place[from] {
				t.Errorf("%s imports %s: %s is above %s in the order of ARCHITECTURE.md", p.dir, i, to, from)
			}
		}
	}
	folders := 0
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		_, wing := place[e.Name()]
		if e.IsDir() && wing {
			folders++
		}
	}
	if folders > 24 {
		t.Errorf("%d top-level folders, want at most 24", folders)
	}
	count := 0
	found := arrows(all)
	for from, to := range found {
		if from != "cdk" {
			count += len(to)
		}
	}
	if count > 125 {
		t.Errorf("%d arrows between wings, want at most 125", count)
	}
	for w := range place {
		if w == "." {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, w)); err != nil {
			t.Errorf("the order names %s, which does not exist", w)
		}
	}
}

// Every package has a comment, from which its row in the tables comes.
func TestPackageComments(t *testing.T) {
	t.Parallel()
	for dir, p := range packages(t) {
		if p.synopsis == "" {
			t.Errorf("%s has no package comment", dir)
		}
	}
}

// ARCHITECTURE.md has the order and a row for each wing with all its packages; docs/packages.md says what each
// package is for.
func TestTablesAreCurrent(t *testing.T) {
	t.Parallel()
	all := packages(t)
	replace(t, "ARCHITECTURE.md", "wings", drawing(arrows(all))+"\n"+table(all))
	replace(t, "docs/packages.md", "packages", list(all))
}

// replace compares the text between two marks of a page with want, and writes it if the test was run with -update.
func replace(t *testing.T, page, mark, want string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(page))
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+mark+" -->\n", "<!-- /"+mark+" -->"
	before, rest, ok := strings.Cut(string(text), begin)
	is, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s lacks the marks %q and %q", page, begin, end)
	}
	if is == want {
		return
	}
	if !*update {
		t.Errorf("%s is not current; go generate ./internal/wings writes it", page)
		return
	}
	if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// drawing shows the floors, top first, and below each wing the wings that it imports directly and reaches in no other
// way.
func drawing(of map[string]map[string]bool) string {
	var b strings.Builder
	b.WriteString("```\n")
	for _, f := range slices.Backward(order) {
		fmt.Fprintf(&b, "%s\n", f.purpose)
		for _, w := range slices.Backward(f.wings) {
			below := slices.Sorted(maps.Keys(reduced(of, w)))
			for i := range below {
				below[i] = name(below[i])
			}
			line := fmt.Sprintf("  %-13s ► %s", name(w), strings.Join(below, ", "))
			fmt.Fprintln(&b, strings.TrimRight(line, " ►"))
		}
	}
	b.WriteString("```\n")
	return b.String()
}

func name(w string) string { return cmp.Or(map[string]string{".": "stepback"}[w], w) }

// reduced returns the arrows of a wing to wings that no other of its arrows leads to.
func reduced(of map[string]map[string]bool, w string) map[string]bool {
	reach := map[string]bool{}
	var visit func(string)
	visit = func(v string) {
		for to := range of[v] {
			if !reach[to] {
				reach[to] = true
				visit(to)
			}
		}
	}
	for to := range of[w] {
		visit(to)
	}
	direct := maps.Clone(of[w])
	maps.DeleteFunc(direct, func(to string, _ bool) bool { return reach[to] })
	return direct
}

// table has a row for each wing: what it is for, and its packages.
func table(all map[string]*pkg) string {
	var b strings.Builder
	b.WriteString("| wing | what it is for | packages below it |\n|---|---|---|\n")
	for _, f := range order {
		for _, w := range f.wings {
			var below []string
			for _, dir := range slices.Sorted(maps.Keys(all)) {
				if wing(dir) == w && dir != w {
					below = append(below, "`"+strings.TrimPrefix(dir, w+"/")+"`")
				}
			}
			purpose := f.purpose
			if p := all[w]; p != nil {
				purpose = sentence(p)
			} else if s, ok := folders[w]; ok {
				purpose = s
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name(w), purpose, strings.Join(below, " "))
		}
	}
	return b.String()
}

// folders describes the wings that are not packages themselves.
var folders = map[string]string{
	"internal":   "Shared by wings, and not for other modules.",
	"aws":        "AWS's vocabulary and a client for every operation.",
	"cmd":        "The command.",
	"lambdas":    "The Lambda functions: thin programs over csvimport, outbox, retrymetrics and adaptive.",
	"localstack": "The CSV import on LocalStack, or at any endpoint: compose file, scripts, events.",
	"adaptive":   "Retries that learn: breakers, limiters, budgets, the controller, the laboratory and the analysis.",
	"tasks":      "What Task states call: integrations of the engine.",
}

// sentence returns a package's synopsis without the words "Package x" or "Command x".
func sentence(p *pkg) string {
	words := strings.SplitN(p.synopsis, " ", 3)
	if len(words) == 3 && (words[0] == "Package" || words[0] == "Command") {
		text := strings.TrimPrefix(words[2], "is ")
		return strings.ToUpper(text[:1]) + text[1:]
	}
	return p.synopsis
}

// list has a row for each package.
func list(all map[string]*pkg) string {
	var b strings.Builder
	for _, f := range order {
		for _, w := range f.wings {
			fmt.Fprintf(&b, "## %s\n\n| package | what it does |\n|---|---|\n", name(w))
			for _, dir := range slices.Sorted(maps.Keys(all)) {
				if wing(dir) == w {
					fmt.Fprintf(&b, "| [`%s`](%s) | %s |\n", cmp.Or(map[string]string{".": "stepback"}[dir], dir),
						path.Join("..", dir), sentence(all[dir]))
				}
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}
