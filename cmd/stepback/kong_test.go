package main

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
)

// grammar returns the verbs and flags as kong reads them from commandLine's tags.
func grammar(t *testing.T) *kong.Node {
	t.Helper()
	parser, err := parserOf(new(commandLine))
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model.Node
}

// leaves calls do for every verb that a line can end with, hidden or not.
func leaves(n *kong.Node, do func(*kong.Node)) {
	if len(n.Children) == 0 {
		do(n)
	}
	for _, c := range n.Children {
		leaves(c, do)
	}
}

// TestVerbsRun checks that kong finds the method that runs a verb: it looks for it by name when the verb is called.
func TestVerbsRun(t *testing.T) {
	t.Parallel()
	leaves(grammar(t), func(n *kong.Node) {
		if _, ok := n.Target.Addr().Interface().(runner); !ok {
			t.Errorf("%s is a %s, which has no Run(context.Context, streams) error", n.FullPath(), n.Target.Type())
		}
	})
}

// TestDirectoryVerbsTravel checks that another process can run every verb on a data directory that it has open.
func TestDirectoryVerbsTravel(t *testing.T) {
	t.Parallel()
	leaves(grammar(t), func(n *kong.Node) {
		verb, ok := n.Target.Addr().Interface().(workspace.DirectoryVerb)
		if !ok {
			return
		}
		for _, fresh := range travelling {
			if reflect.TypeOf(fresh()) == reflect.TypeOf(verb) {
				return
			}
		}
		t.Errorf("%s is not in travelling", n.FullPath())
	})
}

// TestVerbsHaveHelp checks the help of every verb: one line of what the verb does, an example that begins with the
// verb's name, and a line for every flag. Examples are indented, because kong wraps other lines.
func TestVerbsHaveHelp(t *testing.T) {
	t.Parallel()
	leaves(grammar(t), func(n *kong.Node) {
		if n.Hidden {
			return
		}
		s := stepback(t, append(strings.Fields(n.Path()), "--help")...)
		s.ends(t, exit.OK, "Usage: "+n.FullPath(), n.Help[:min(len(n.Help), 40)])
		_, example, _ := strings.Cut(n.Detail, "Example")
		if !strings.Contains(example, n.FullPath()) {
			t.Errorf("the help of %s has no example", n.FullPath())
		}
		heading, example, _ := strings.Cut(example, "\n")
		example, _, _ = strings.Cut(example, "\n\n")
		lines := strings.Split(strings.TrimRight(example, "\n"), "\n")
		if want := map[bool]string{true: ":", false: "s:"}[len(lines) == 1]; heading != want {
			t.Errorf("the help of %s has %d lines below \"Example%s\"", n.FullPath(), len(lines), heading)
		}
		for _, line := range lines {
			if !strings.HasPrefix(line, "  ") {
				t.Errorf("the help of %s has an example that is not indented: %s", n.FullPath(), line)
			}
		}
		if strings.Contains(n.Detail, "\t") {
			t.Errorf("the help of %s has a tab: kong takes an indented line for code: %s", n.FullPath(), n.Detail)
		}
		for _, f := range slices.Concat(n.AllFlags(true)...) {
			if !strings.Contains(s.out, "--"+f.Name) {
				t.Errorf("the help of %s lacks --%s", n.FullPath(), f.Name)
			}
		}
	})
}

// TestHelpFits checks that the help is as wide as the terminal, at most 110 columns, but for the one line that
// kong does not break. COLUMNS stands in for a terminal, whose width kong asks for itself.
func TestHelpFits(t *testing.T) {
	for columns, width := range map[int]int{62: 62, 80: 80, 200: 110} {
		t.Setenv("COLUMNS", strconv.Itoa(columns))
		var out, err strings.Builder
		if code := execute(t.Context(), []string{"--help"}, terminal.Streams{Out: &out, Err: &err, OutWidth: columns}); code != exit.OK {
			t.Fatalf("exit status %d: %s", code, err.String())
		}
		widest := 0
		for line := range strings.Lines(out.String()) {
			if !strings.HasPrefix(line, `Run "stepback <command> --help"`) {
				widest = max(widest, len(strings.TrimRight(line, "\n")))
			}
		}
		if widest > width || widest < width-5 {
			t.Errorf("help for %d columns has a line of %d", columns, widest)
		}
	}
}
