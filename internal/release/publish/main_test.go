package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPublish(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string][2]string{ // before and after
		"go.mod": {"module stepback\n\ngo 1.26.0\n", "module example.org/you/stepback\n\ngo 1.26.0\n"},
		"cdk/go.mod": {
			"module stepback/cdk\n\nrequire (\n\tstepback v0.0.0\n)\n\nreplace stepback => ../\n",
			"module example.org/you/stepback/cdk\n\nrequire (\n\texample.org/you/stepback v0.0.0\n)\n\n" +
				"replace example.org/you/stepback => ../\n",
		},
		"engine/a.go": {
			"// Package engine is not stepback's only one.\npackage engine\n\nimport (\n\t\"stepback\"\n\t\"stepback/cdk\"\n\n" +
				"\t\"stepbackwards/x\"\n)\n\nvar list = \"stepback/engine\" + stepback.Name + \"stepback serve\"\n",
			"// Package engine is not stepback's only one.\npackage engine\n\nimport (\n\t\"example.org/you/stepback\"\n" +
				"\t\"example.org/you/stepback/cdk\"\n\n\t\"stepbackwards/x\"\n)\n\n" +
				"var list = \"example.org/you/stepback/engine\" + stepback.Name + \"stepback serve\"\n",
		},
		"README.md": {"import \"stepback/engine\", run bin/stepback",
			"import \"example.org/you/stepback/engine\", run bin/stepback"},
		".golangci.yml": {"deny: {pkg: stepback/cdk, a}", "deny: {pkg: example.org/you/stepback/cdk, a}"},
		"data.json":     {`"stepback/engine"`, `"stepback/engine"`},
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text[0]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	changed, err := publish(dir, "example.org/you/stepback")
	if err != nil || changed != 5 {
		t.Errorf("%d files, %v", changed, err)
	}
	for name, text := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(got) != text[1] {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, text[1])
		}
	}
}

func TestPublishRefusesWhatCannotBeFetched(t *testing.T) {
	t.Parallel()
	for _, module := range []string{"", "stepback", "you/stepback", "https://github.com/you/stepback", "github.com"} {
		if _, err := publish(t.TempDir(), module); err == nil {
			t.Errorf("%q is taken", module)
		}
	}
}
