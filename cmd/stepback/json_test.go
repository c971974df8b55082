package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// Every verb has --json, except those whose output is a file, a script or JSON already.
func TestVerbsThatPrintFactsHaveJSON(t *testing.T) {
	t.Parallel()
	without := []string{
		"completion",                          // a script
		"man",                                 // a page
		"mcp",                                 // speaks JSON
		"sample",                              // a CSV file
		"dashboard grafana", "dashboard body", // JSON itself
		"data export", "predict examples", // JSON lines
		"serve",              // prints no result; its services answer
		"lsp",                // likewise
		"relay",              // likewise
		"lab chart", "graph", // pictures
		"definition", "record", // a file of tests
		"deadletters edit", // opens an editor
	}
	eachVerb(grammar(t), nil, func(n *kong.Node, path []string) {
		if len(n.Children) > 0 || len(path) == 0 || slices.Contains(without, strings.Join(path, " ")) {
			return
		}
		if !slices.ContainsFunc(n.Flags, func(f *kong.Flag) bool { return f.Name == "json" }) {
			t.Errorf("%s has no --json", strings.Join(path, " "))
		}
	})
}
