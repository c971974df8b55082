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
	picture := filepath.Join(dir, "a.svg")
	for args, want := range map[string]string{
		"graph " + file + " -o mermaid":         "flowchart TD\n",
		"graph " + file + " -o dot":             "digraph {\n",
		"graph " + file + " -o " + picture:      picture,
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
