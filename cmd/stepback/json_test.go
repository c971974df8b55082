package main

import (
	"slices"
	"strings"
	"testing"

	"stepback/cmd/stepback/commandline"
)

// Every verb has --json, except those whose output is a file, a script or JSON already.
func TestVerbsThatPrintFactsHaveJSON(t *testing.T) {
	t.Parallel()
	without := []string{
		"completion",                          // a script
		"sample",                              // a CSV file
		"dashboard grafana", "dashboard body", // JSON itself
		"data export", "predict examples", // JSON lines
		"serve",              // prints no result; its services answer
		"relay",              // likewise
		"lab chart", "graph", // pictures
		"definition", "record", // a file of tests
		"deadletters edit", // opens an editor
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

// Every verb that can end a command line has a Run method.
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
