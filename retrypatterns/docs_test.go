package retrypatterns_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"stepback/retrypatterns"
)

var update = flag.Bool("update", false, "write docs/retry-patterns.md instead of comparing with it")

func TestDocsAreCurrent(t *testing.T) {
	const page = "../docs/retry-patterns.md"
	var want bytes.Buffer
	if err := retrypatterns.WriteMarkdown(&want); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.MkdirAll("../docs", 0o755); err != nil {
			t.Fatal(err)
		}
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
		t.Errorf("%s is out of date: run go generate ./retrypatterns", page)
	}
}
