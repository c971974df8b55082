package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
)

const (
	accepted = `{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`
	refused  = "{\"StartAt\": \"P\",\n \"States\": {\n  \"P\": {\"Type\": \"Pass\", \"Nxt\": \"Q\"}}}"
)

// definitionsDir creates a directory with an accepted definition, and a refused one in a folder below it.
func definitionsDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o750); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a.asl.json": accepted, "sub/b.asl.json": refused, "other.json": "{}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestValidateWalksDirectories(t *testing.T) {
	t.Parallel()
	dir := definitionsDir(t)
	stepback(t, "validate", dir).ends(t, exit.Data, filepath.Join(dir, "a.asl.json")+": accepted\n",
		filepath.Join(dir, "sub", "b.asl.json")+
			":3:25: error SCHEMA_VALIDATION_FAILED: Field 'Nxt' is not supported (at /States/P)\n  3 |   \"P\": {\"Type\": \"Pass\", \"Nxt\": \"Q\"}}}\n")
	stepback(t, "validate", filepath.Join(dir, "a.asl.json")).ends(t, exit.OK, "accepted")
	stepback(t, "validate", filepath.Join(dir, "none.json")).complains(t, exit.Usage, "none.json: no such file")
	stepback(t, "validate", t.TempDir()).complains(t, exit.Usage, "has no *.asl.json")
}

func TestValidateReadsStandardInput(t *testing.T) {
	t.Parallel()
	var out, problems strings.Builder
	code := execute(t.Context(), []string{"validate", "-", "--json"}, terminal.Streams{In: strings.NewReader(refused), Out: &out,
		Err: &problems})
	for _, want := range []string{
		`"file": "standard input",`, `"result": "FAIL",`, `"code": "SCHEMA_VALIDATION_FAILED",`,
		`"location": "/States/P",`, `"line": 3,`, `"column": 25,`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %s:\n%s", want, out.String())
		}
	}
	if code != exit.Data || problems.Len() > 0 {
		t.Errorf("exit code %d, %s", code, problems.String())
	}
}
