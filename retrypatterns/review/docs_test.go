package review_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"testing"

	"stepback/asl"
	"stepback/internal/recordings"
	"stepback/retrypatterns/review"
)

var update = flag.Bool("update", false, "write docs/retry-review.md instead of comparing with it")

// recorded returns the distinct definitions in the recordings that are accepted, by their text.
func recorded(t *testing.T) map[string]*asl.Machine {
	t.Helper()
	from, err := recordings.FS()
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(from, "cases/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	all := map[string]*asl.Machine{}
	for _, file := range files {
		text, err := fs.ReadFile(from, file)
		if err != nil {
			t.Fatal(err)
		}
		var c struct {
			Steps []struct {
				Params struct {
					Definition struct {
						JSON json.RawMessage `json:"$json"`
					} `json:"definition"`
				}
			}
		}
		_ = json.Unmarshal(text, &c) // steps of another form have no definition
		for _, s := range c.Steps {
			definition := string(s.Params.Definition.JSON)
			if m, _ := asl.Parse(definition); m != nil {
				all[definition] = m
			}
		}
	}
	return all
}

func TestDocsAreCurrent(t *testing.T) {
	t.Parallel()
	definitions := recorded(t)
	if len(definitions) < 300 {
		t.Fatalf("only %d definitions in the recordings", len(definitions))
	}
	counts := map[asl.Code]int{}
	for text, m := range definitions {
		report := review.Definition(text, m, review.Options{})
		for _, f := range report.Findings {
			counts[f.Code]++
		}
		if fixed, mended := review.Fix(text, report.Findings); mended > 0 {
			if m, found := asl.Parse(fixed); m == nil {
				t.Errorf("mended to something invalid: %v\n%s", found, fixed)
			}
		}
	}
	var want bytes.Buffer
	if err := review.WriteMarkdown(&want, counts, len(definitions)); err != nil {
		t.Fatal(err)
	}
	const page = "../../docs/retry-review.md"
	if *update {
		if err := os.WriteFile(page, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is out of date: run go generate ./retrypatterns/review", page)
	}
}
