package main

import (
	"slices"
	"strings"
	"testing"

	"stepback/cmd/stepback/commandline"
)

// TestVerbsThatPrintFactsHaveJSON holds that every verb has --json, but for those whose output is a file, a script or
// JSON already.
func TestVerbsThatPrintFactsHaveJSON(t *testing.T) {
	t.Parallel()
	without := []string{
		"completion",                          // a script
		"sample",                              // a CSV file
		"dashboard grafana", "dashboard body", // JSON itself
		"data export", "predict examples", // JSON lines
		"serve",              // no answer of its own; its services answer
		"relay",              // likewise
		"lab chart", "graph", // pictures
		"definition", "record", // a file of tests
		"deadletters edit", // an editor
	}
	program := commandline.New("stepback", description, &commandLine{})
	eachVerb(program.Top(), nil, func(n *commandline.Node, path []string) {
		if len(n.Children) > 0 || len(path) == 0 || slices.Contains(without, strings.Join(path, " ")) {
			return
		}
		if !slices.ContainsFunc(n.Flags, func(f *commandline.Flag) bool { return f.Name == "json" }) {
			t.Errorf("%s has no --json", strings.Join(path, " "))
		}
	})
}

// TestVerbsRun holds that every verb that a line can end with has a method to run it.
func TestVerbsRun(t *testing.T) {
	t.Parallel()
	var all func(n *commandline.Node)
	all = func(n *commandline.Node) {
		if _, ok := n.Target.(runner); !ok && len(n.Children) == 0 {
			t.Errorf("%s is a %T, which cannot be run", n.Name, n.Target)
		}
		for _, c := range n.Children {
			all(c)
		}
	}
	all(commandline.New("stepback", description, &commandLine{}).Top())
}
