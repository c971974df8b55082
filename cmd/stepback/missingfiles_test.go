package main

import (
	"testing"

	"stepback/cmd/stepback/exit"
)

// TestFilesThatAreNotThere passes a missing file to every verb that reads a definition and every flag that reads a
// file.
func TestFilesThatAreNotThere(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"definition", "nowhere.asl.json"}, {"graph", "nowhere.asl.json"}, {"exec", "nowhere.asl.json"},
		{"validate", "nowhere.asl.json"}, {"test-state", "nowhere.asl.json"}, {"cost", "nowhere.asl.json"},
		{"retries", "review", "nowhere.asl.json"}, {"retries", "explain", "nowhere.asl.json"},
		{"run", "--csv", "nowhere.asl.json"}, {"chaos", "add", "--file", "nowhere.asl.json"},
		{"exec", write(t, `{"StartAt":"A","States":{"A":{"Type":"Pass","End":true}}}`), "--mock", "nowhere.asl.json",
			"--test-case", "A"},
	} {
		s := stepback(t, args...)
		s.complains(t, exit.Usage, "nowhere.asl.json: no such file or directory")
	}
}
