package main

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"pgregory.net/rapid"

	"stepback/cmd/stepback/commandline"
)

// kongs builds kong's parser for the program's grammar. Help and usage are written to out.
func kongs(t interface{ Fatal(...any) }, width int, out io.Writer) *kong.Kong {
	k, err := kong.New(&commandLine{}, kong.Name("stepback"), kong.Description(description),
		kong.Writers(out, io.Discard), kong.Exit(func(int) {}),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: width}))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestHelpIsKongs compares the help of all verbs with kong's. kong assumes a terminal of at most 80 columns unless
// the environment says otherwise.
func TestHelpIsKongs(t *testing.T) {
	t.Parallel()
	program := commandline.New("stepback", description, &commandLine{})
	for _, width := range []int{40, 62, 80} {
		eachVerb(program.Top(), nil, func(_ *commandline.Node, path []string) {
			line := append(slices.Clone(path), "--help")
			var theirs, ours strings.Builder
			// kong continues after printing the help, and reports missing arguments
			_, _ = kongs(t, width, &theirs).Parse(line)
			read, err := program.Parse(line)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if err := program.WriteHelp(&ours, read.Verb, width); err != nil {
				t.Fatal(err)
			}
			if ours.String() != theirs.String() {
				t.Errorf("%d columns, %s: %s", width, line, firstDifference(ours.String(), theirs.String()))
			}
		})
	}
}

// firstDifference describes the first line in which two texts differ.
func firstDifference(ours, theirs string) string {
	a, b := strings.Split(ours, "\n"), strings.Split(theirs, "\n")
	for i := range a {
		if i == len(b) || a[i] != b[i] {
			return fmt.Sprintf("line %d: %q, kong's %q", i+1, a[i], b[min(i, len(b)-1)])
		}
	}
	return fmt.Sprintf("line %d: none, kong's %q", len(a)+1, b[len(a)])
}

// TestCommandLinesAreReadAsKongReadsThem generates command lines, most of them with a mistake, and compares the
// parsed values, the error and the usage shown with it to kong's.
func TestCommandLinesAreReadAsKongReadsThem(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var theirs strings.Builder
		k := kongs(t, 80, &theirs)
		line := drawLine(t, k.Model.Node)
		read, theirErr := k.Parse(line)
		program := commandline.New("stepback", description, &commandLine{})
		got, err := program.Parse(line)
		if err == nil && (got.Help || got.Version) {
			return // a random letter asked for help or the version: kong would exit, this parser only reports it
		}
		if theirErr != nil || err != nil {
			sameError(t, line, program, err, theirErr, &theirs)
			return
		}
		if got.Verb == nil {
			t.Fatalf("%q: no verb; kong reads %s", line, read.Command())
		}
		ours := reflect.ValueOf(got.Verb.Target).Elem()
		if a, b := ours.Interface(), read.Selected().Target.Interface(); !reflect.DeepEqual(a, b) {
			t.Fatalf("%q:\n%+v\nkong reads\n%+v", line, a, b)
		}
	})
}

func sameError(t *rapid.T, line []string, program *commandline.Program, err, theirErr error, theirs *strings.Builder) {
	if fmt.Sprint(err) != fmt.Sprint(theirErr) {
		t.Fatalf("%q: %v; kong says %v", line, err, theirErr)
	}
	var of *commandline.ParseError
	var theirOf *kong.ParseError
	if !errors.As(err, &of) || !errors.As(theirErr, &theirOf) {
		t.Fatalf("%q: %T; kong's is a %T", line, err, theirErr)
	}
	verb := theirOf.Context.Selected()
	if (of.Verb == nil) != (verb == nil) || verb != nil && of.Verb.Target == nil {
		t.Fatalf("%q: at %v; kong is at %v", line, of.Verb, verb)
	}
	if verb == nil {
		return
	}
	var ours strings.Builder
	_ = theirOf.Context.PrintUsage(true)
	if _ = program.WriteUsage(&ours, of.Verb, 80); ours.String() != theirs.String() {
		t.Fatalf("%q: %s", line, firstDifference(ours.String(), theirs.String()))
	}
}

// drawLine generates a verb followed by words that it knows, nearly knows or does not know.
func drawLine(t *rapid.T, top *kong.Node) []string {
	var nodes []*kong.Node
	var all func(*kong.Node)
	all = func(n *kong.Node) {
		nodes = append(nodes, n)
		for _, c := range n.Children {
			all(c)
		}
	}
	all(top)
	node := rapid.SampledFrom(nodes).Draw(t, "verb")
	line := strings.Fields(node.Path())
	flags := slices.Concat(node.AllFlags(false)...)
	if node.DefaultCmd != nil {
		flags = append(flags, node.DefaultCmd.Flags...)
	}
	given := map[string]bool{}
	for range rapid.IntRange(0, 5).Draw(t, "words") {
		words := drawWords(t, nodes, flags, given)
		at := len(line)
		if rapid.IntRange(0, 9).Draw(t, "earlier") == 0 {
			at = rapid.IntRange(0, at).Draw(t, "at")
		}
		line = slices.Insert(line, at, words...)
	}
	return line
}

// values are valid and invalid values for flags and arguments.
var values = []string{
	"", "-", "a", "a,b", `a\,b`, `\`, ",", "a=b", "a=b;c=d", "=", "5", "0x10", "-5", "1.5", "1e3", "30s", "90d", "10MB", "true", "No",
	"99999999999999999999", "ALL", "outbox", "process", "both", "bash", "main.go", "testdata", ".", "no-such-file", "~/x", "--", "--json", "-q", "x é",
}

func drawWords(t *rapid.T, nodes []*kong.Node, flags []*kong.Flag, given map[string]bool) []string {
	value := rapid.SampledFrom(values)
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		return []string{rapid.SampledFrom(nodes).Draw(t, "another verb").Name}
	case 1, 2:
		return []string{value.Draw(t, "value")}
	case 3:
		return []string{"-" + rapid.StringMatching(`-?[a-zA-Z]{1,6}`).Draw(t, "no flag")}
	}
	f := rapid.SampledFrom(flags).Draw(t, "flag")
	// If an existing file is given twice, kong takes the first; of every other flag it takes the last.
	if f.Name == "help" || f.Name == "version" || strings.HasPrefix(f.Tag.Type, "existing") && given[f.Name] {
		return nil
	}
	given[f.Name] = true
	name := "--" + f.Name
	if f.Short != 0 && rapid.Bool().Draw(t, "short") {
		name = "-" + string(f.Short)
	}
	switch rapid.IntRange(0, 9).Draw(t, "form") {
	case 0:
		return []string{name}
	case 1:
		return []string{name[:max(2, len(name)-1)]}
	case 2:
		return []string{name + value.Draw(t, "tail")}
	case 3, 4, 5:
		return []string{name + "=" + value.Draw(t, "value")}
	default:
		if f.IsBool() {
			return []string{name}
		}
		return []string{name, value.Draw(t, "value")}
	}
}
