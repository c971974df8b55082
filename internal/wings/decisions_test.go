package wings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	decisionFile  = regexp.MustCompile(`^(\d{3})-[a-z0-9-]+\.md$`)
	decisionTitle = regexp.MustCompile(`^# (\d{3}): (\S.*)$`)
	decisionRow   = regexp.MustCompile(`^\| \[(\d{3})\]\(([^)]+)\) \| (.+) \| \S.* \|$`)
	gapRow        = regexp.MustCompile(`^\| (\d{3}) \| \S.* \|$`)
)

// Each page of docs/decisions has its number in the file name, the title and its row in the index; each number without
// a page is explained there.
func TestDecisions(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(root, "docs", "decisions")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var pages []string // by number: the rows that the index must have
	last := 0
	numbers := map[string]bool{}
	for _, e := range entries {
		if e.Name() == "README.md" {
			continue
		}
		name := decisionFile.FindStringSubmatch(e.Name())
		if name == nil {
			t.Errorf("%s: want a name like 012-title-in-words.md", e.Name())
			continue
		}
		first, _, _ := strings.Cut(readPage(t, filepath.Join(dir, e.Name())), "\n")
		title := decisionTitle.FindStringSubmatch(first)
		if title == nil || title[1] != name[1] {
			t.Errorf("%s begins %q, want \"# %s: title\"", e.Name(), first, name[1])
			continue
		}
		if numbers[name[1]] {
			t.Errorf("%s: number %s is taken by another page", e.Name(), name[1])
		}
		numbers[name[1]] = true
		last, _ = strconv.Atoi(name[1])
		pages = append(pages, fmt.Sprintf("[%s](%s): %s", name[1], e.Name(), title[2]))
	}
	var rows, gaps, missing []string
	for line := range strings.Lines(readPage(t, filepath.Join(dir, "README.md"))) {
		line = strings.TrimRight(line, "\n")
		if row := decisionRow.FindStringSubmatch(line); row != nil {
			rows = append(rows, fmt.Sprintf("[%s](%s): %s", row[1], row[2], row[3]))
		} else if gap := gapRow.FindStringSubmatch(line); gap != nil {
			gaps = append(gaps, gap[1])
		}
	}
	for n := range last {
		if number := fmt.Sprintf("%03d", n+1); !numbers[number] {
			missing = append(missing, number)
		}
	}
	compare(t, "the index of docs/decisions/README.md", rows, pages)
	compare(t, "its table of numbers without a page", gaps, missing)
}

// compare reports what a list lacks, has too much, or has in another order.
func compare(t *testing.T, what string, got, want []string) {
	t.Helper()
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("%s lacks %s", what, w)
		}
	}
	for _, g := range got {
		if !slices.Contains(want, g) {
			t.Errorf("%s has %s, which no page says", what, g)
		}
	}
	if !t.Failed() && !slices.Equal(got, want) {
		t.Errorf("%s is not in order", what)
	}
}

func readPage(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
