package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stepback/cmd/stepback/exit"
)

func TestGraph(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "orders.asl.json")
	if err := os.WriteFile(file, []byte(`{"StartAt":"A","States":{"A":{"Type":"Pass","End":true}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(dir, "open.asl.yaml")
	if err := os.WriteFile(open, []byte(`StartAt: W
States:
  W: {Type: Wait, Seconds: "${Seconds}", Next: C}
  C: {Type: Choice, Choices: [{Variable: $.n, NumericEquals: "${N}", Next: P}], Default: M}
  P: {Type: Parallel, Branches: "${Branches}", Next: T}
  M: {Type: Map, ItemProcessor: "${Processor}", MaxConcurrency: "${Most}", Next: T}
  T: {Type: Task, Resource: "${Function}", TimeoutSeconds: "${Timeout}", Retry: "${Retry}", Catch: "${Catch}", End: true}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	stepback(t, "validate", open).ends(t, exit.OK, "accepted, whatever the values of ${Seconds}")
	picture := filepath.Join(dir, "a.svg")
	for args, want := range map[string]string{
		"graph " + file + " -o mermaid":         "flowchart TD\n",
		"graph " + file + " -o dot":             "digraph {\n",
		"graph " + file + " -o " + picture:      picture,
		"graph " + open + " -o svg":             "<svg ",
		"graph " + open + " -o mermaid":         "flowchart TD\n",
		"graph " + open + " -o dot":             "digraph {\n",
		"graph " + file + " -o " + dir + "/x":   "",
		"graph " + dir + "/none -o svg":         "",
		"graph nothing --data " + dir + "/none": "",
	} {
		said := stepback(t, strings.Fields(args)...)
		if (said.code == exit.OK) != (want != "") || !strings.HasPrefix(said.out, want) {
			t.Errorf("%s: %+v", args, said)
		}
	}
	if text, err := os.ReadFile(picture); err != nil || !strings.HasPrefix(string(text), "<svg ") {
		t.Errorf("%s, %v", text, err)
	}
}
