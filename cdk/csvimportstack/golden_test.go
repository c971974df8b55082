package csvimportstack_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"stepback/cdk/environment"
)

var update = flag.Bool("update", false, "write the golden template instead of comparing with it")

func TestGoldenTemplates(t *testing.T) {
	for _, e := range []environment.Environment{environment.Dev(), environment.Prod()} {
		golden(t, e)
	}
	if !bytes.Equal(synth(t, environment.Prod()).text, synth(t, environment.Prod()).text) {
		t.Error("two syntheses differ")
	}
}

func golden(t *testing.T, e environment.Environment) {
	t.Helper()
	file := "testdata/" + e.Name + ".golden.json"
	got := synth(t, e).text
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
		t.Errorf("the template differs from %s; if that is meant, go test ./csvimportstack -update and look at the diff", file)
	}
}
