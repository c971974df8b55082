package handlers_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"stepback/retrypatterns/review/handlers"
)

var update = flag.Bool("update", false, "write docs/durable-review.md instead of comparing with it")

func TestDocsAreCurrent(t *testing.T) {
	t.Parallel()
	var page bytes.Buffer
	if err := handlers.WriteMarkdown(&page); err != nil {
		t.Fatal(err)
	}
	const path = "../../../docs/durable-review.md"
	if *update {
		if err := os.WriteFile(path, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if text, err := os.ReadFile(path); err != nil || !bytes.Equal(text, page.Bytes()) {
		t.Errorf("docs/durable-review.md is not current (%v): go generate ./retrypatterns/review/handlers", err)
	}
}
