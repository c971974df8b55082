package csvimportstack_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"stepback/cdk/environment"
)

var update = flag.Bool("update", false, "write the golden template instead of comparing with it")

func TestGoldenTemplate(t *testing.T) {
	const file = "testdata/prod.golden.json"
	got := synth(t, environment.Prod()).text
	if !bytes.Equal(got, synth(t, environment.Prod()).text) {
		t.Error("two syntheses differ")
	}
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the template of prod differs from %s; if that is meant, go test ./csvimportstack -update and look at the diff", file)
	}
}
