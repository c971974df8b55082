package wings_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	fenced    = regexp.MustCompile("(?ms)^```.*?^```")
	generated = regexp.MustCompile(`(?s)<!-- (\w+) -->.*?<!-- /\w+ -->`)
	ticked    = regexp.MustCompile("`([\\w.-]+(?:/[\\w.-]+)*/?)`")
	linked    = regexp.MustCompile(`\]\(([^)#:\s]*)(#[^)\s]*)?\)`)
	heading   = regexp.MustCompile(`(?m)^#+ (.*)$`)
	unlinked  = regexp.MustCompile(`[^\pL\pN_ -]`)      // what GitHub leaves out of a heading's anchor
	stands    = regexp.MustCompile(`^[A-Z_]+(\.\w+)?$`) // a segment that stands for others, such as ENV.json
)

// former are top-level folders that were moved into wings (decision 048). Their paths are no longer right.
var former = []string{"services", "console", "conformance", "machinetest", "timeline", "graph", "retryanalysis",
	"retrylab", "cost", "gcpace", "recordings", "objectevent", "release", "executions", "definitions", "otlptraces",
	"pipeline", "faultscenario", "deadletters", "examples"}

// The paths that pages name exist: in backticks those that begin with a top-level folder or are the name of a Go file,
// and the targets of relative links, with their anchors.
func TestPathsOfPages(t *testing.T) {
	t.Parallel()
	names := fileNames(t)
	for _, page := range pages(t) {
		text := readPage(t, filepath.Join(root, page))
		text = generated.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")
		for _, m := range ticked.FindAllStringSubmatch(text, -1) {
			if !exists(m[1], names) {
				t.Errorf("%s names `%s`, which does not exist", page, m[1])
			}
		}
		for _, m := range linked.FindAllStringSubmatch(text, -1) {
			target := path.Join(path.Dir(page), m[1])
			if m[1] == "" {
				target = page
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, m[1])
			} else if m[2] != "" && strings.HasSuffix(target, ".md") && !anchors(t, target)[m[2]] {
				t.Errorf("%s links to %s%s: the page has no such heading", page, m[1], m[2])
			}
		}
	}
}

// anchors returns the anchors of a page's headings, as GitHub makes them.
func anchors(t *testing.T, page string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, h := range heading.FindAllStringSubmatch(readPage(t, filepath.Join(root, page)), -1) {
		text := unlinked.ReplaceAllString(strings.ToLower(h[1]), "")
		all["#"+strings.ReplaceAll(text, " ", "-")] = true
	}
	return all
}

// pages returns the pages for people: those of the root, of docs and of docs/decisions but 048, which has old paths.
func pages(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/decisions/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			page, err := filepath.Rel(root, f)
			if err != nil {
				t.Fatal(err)
			}
			if page = filepath.ToSlash(page); page != "docs/decisions/048-wings.md" {
				found = append(found, page)
			}
		}
	}
	return found
}

// fileNames returns the names of the Go files and pages of the repository, without their folders.
func fileNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		names[d.Name()] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// exists reports whether text in backticks is no path of the repository, or one that exists.
func exists(text string, names map[string]bool) bool {
	name := strings.TrimSuffix(text, "/")
	segments := strings.Split(name, "/")
	if len(segments) == 1 {
		return !strings.HasSuffix(name, ".go") || names[name]
	}
	top := segments[0]
	if slices.Contains(former, top) {
		return false
	}
	isWing := slices.Contains([]string{".ci", ".github"}, top) ||
		slices.ContainsFunc(order, func(f floor) bool { return slices.Contains(f.wings, top) })
	if !isWing || slices.ContainsFunc(segments, stands.MatchString) {
		return true
	}
	_, err := os.Stat(filepath.Join(root, name))
	return err == nil
}
