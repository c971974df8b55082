package local_test

import (
	"flag"
	"os"
	"testing"

	"stepback/local"
	"stepback/local/services/coverage"
)

var update = flag.Bool("update", false, "write docs/services.md instead of comparing with it")

// TestDocsAreCurrent compares the tables in docs/services.md with the operations that the services have registered.
func TestDocsAreCurrent(t *testing.T) {
	t.Parallel()
	const page = "../docs/services.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want, err := coverage.Page(string(text), open(t, local.Config{}).Coverage())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Errorf("%s is out of date: run make generate, or go generate ./local", page)
	}
}

// TestAcceptedMembers checks that no service accepts a member without effect that it reads in fact.
func TestAcceptedMembers(t *testing.T) {
	t.Parallel()
	for _, c := range open(t, local.Config{}).Coverage() {
		for i := range c.Operations {
			if o := &c.Operations[i]; len(o.Stale) > 0 {
				t.Errorf("%s.%s reads the accepted members %v", c.Model, o.Name, o.Stale)
			}
		}
	}
}
