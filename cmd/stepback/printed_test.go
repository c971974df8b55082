package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"stepback/cmd/stepback/exit"
	"stepback/csvimport/pipeline"
)

// printed returns the commands that a text shows on lines of their own, ready to paste, without the name stepback.
func printed(text string) []string {
	var commands []string
	for _, m := range regexp.MustCompile(`(?m)(?:^\s+|: )stepback ([a-z].*)$`).FindAllStringSubmatch(text, -1) {
		command, _, _ := strings.Cut(m[1], "  ") // an explanation may follow
		commands = append(commands, command)
	}
	return commands
}

// pasted runs a printed command as a shell would, whose only quotes are '…'.
func pasted(t *testing.T, command string) said {
	t.Helper()
	var args []string
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 {
			args = append(args, part)
		} else {
			args = append(args, strings.Fields(part)...)
		}
	}
	return stepback(t, args...)
}

// TestTheReportsCommandsShowTheRow imports a file of which batches leave some rows, in each shape, and runs the
// commands that the report prints. For 30 dead letters, the command for a row shows the events of just that row.
func TestTheReportsCommandsShowTheRow(t *testing.T) {
	t.Parallel()
	for _, shape := range []string{"bulk", "batch", "single"} {
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "my data")
			file := filepath.Join(t.TempDir(), "activity.csv")
			stepback(t, "sample", "--rows", "600", "--seed", "3", "-o", file).ends(t, exit.OK)
			run := []string{"run", "--csv", file, "--data", data, "--virtual-time", "--shape", shape, "--fault",
				"ProcessSingleUserRecord:DatabaseConnectionError:60%"}
			first := stepback(t, run...)
			first.ends(t, exit.Data, "the events of a dead letter")
			commands := printed(first.out)
			if len(commands) != 4 {
				t.Errorf("the report prints %q", commands)
			}
			var r pipeline.Report
			if err := json.Unmarshal([]byte(stepback(t, append(run, "--json")...).out), &r); err != nil {
				t.Fatal(err)
			}
			for _, command := range commands {
				s := pasted(t, command)
				switch {
				case strings.Contains(command, "--row"):
					s.ends(t, exit.OK, "DeadLetterRecord")
				case strings.Contains(command, "--children"):
					s.ends(t, exit.OK, "failed attempts")
				case strings.HasPrefix(command, "history"):
					s.ends(t, exit.OK, "ExecutionFailed ToleratedFailurePercentageExceeded")
				default:
					s.ends(t, exit.OK, fmt.Sprintf("applied %d", r.Rows.DeadLettered))
				}
			}
			right := 0
			for _, row := range rowsOf(t, r.Outputs.DeadLetters)[:30] {
				if showsRow(t, stepback(t, "history", r.Name, "--row", strconv.FormatInt(row, 10), "--data", data, "--json"), row) {
					right++
				}
			}
			if right != 30 {
				t.Errorf("%d of 30 commands show their row", right)
			}
		})
	}
}

// rowsOf returns the rows of a file of dead letters.
func rowsOf(t *testing.T, file string) []int64 {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rows []int64
	for line := range strings.Lines(string(text)) {
		var l struct{ Row int64 }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, l.Row)
	}
	return rows
}

// showsRow reports whether a history shows how a row became a dead letter, and no other row.
func showsRow(t *testing.T, s said, row int64) bool {
	t.Helper()
	s.ends(t, exit.OK)
	var h struct {
		Events []struct {
			Details struct{ Name, Input string } `json:"stateEnteredEventDetails"`
		}
	}
	if err := json.Unmarshal([]byte(s.out), &h); err != nil {
		t.Fatal(err)
	}
	dead := false
	for _, e := range h.Events {
		if e.Details.Name == "" {
			continue
		}
		if !pipeline.InputIsOfRow(e.Details.Input, row) {
			return false
		}
		dead = dead || e.Details.Name == "DeadLetterRecord"
	}
	return dead
}

// TestARowThatItsBatchDecided shows the events of the batch.
func TestARowThatItsBatchDecided(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	file := write(t, "user_id,login_count,post_count\nanna,1,2\nbert,3,4\n")
	stepback(t, "run", "--csv", file, "--data", data).ends(t, exit.OK)
	stepback(t, "history", "activity", "--data", data, "--row", "1").ends(t, exit.OK, "TaskStateExited ApplyBatch",
		`"applied":[[0,1]]`)
}

// TestThePrintedCommandsRun runs the commands that verbs and errors print.
func TestThePrintedCommandsRun(t *testing.T) {
	t.Parallel()
	data, url := served(t)
	for name, at := range map[string][]string{"a": {"--data", data}, "b": {"--endpoint", url}} {
		awaits(t, "orders", append([]string{"machines"}, at...)...)
		stepback(t, append([]string{"start", "orders", "--name", "bad-" + name, "--input", `{"ok":false,"fail":true}`, "--wait"},
			at...)...)
		commands := printed(stepback(t, append([]string{"describe", "bad-" + name}, at...)...).out)
		if len(commands) != 2 {
			t.Errorf("describe prints %q", commands)
		}
		for _, command := range commands {
			pasted(t, command).ends(t, exit.OK, "bad-"+name)
		}
	}
	none := t.TempDir()
	for _, s := range []said{
		stepback(t, "start", "orders", "--data", none), stepback(t, "chaos", "list", "--data", none),
		stepback(t, "chaos", "lift", "9", "--data", data), stepback(t, "deadletters", "redrive", "--data", data),
		stepback(t, "history", "bad-a", "--children", "--endpoint", url),
	} {
		if s.code == exit.OK {
			t.Errorf("%q succeeded", s.out)
		}
		for _, command := range printed(s.err) {
			parsesAs(t, command)
		}
	}
}

// parsesAs checks that a command line has a verb and flags that exist.
func parsesAs(t *testing.T, command string) {
	t.Helper()
	p, err := parserOf(new(commandLine))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Parse(strings.Fields(command)); err != nil {
		t.Errorf("stepback %s: %v", command, err)
	}
}

// prose are the words that follow the product's name in a sentence.
var prose = []string{"again", "counts", "leaves", "needs", "or", "runs", "server", "stepback", "using", "was"}

// TestVerbsInTextsExist collects "stepback VERB" from every message, help, alarm and template of the program, and from
// the code in the documentation, and checks that the verb exists. It also checks the scripts that alarms name.
func TestVerbsInTextsExist(t *testing.T) {
	t.Parallel()
	root := grammar(t)
	named := regexp.MustCompile(`\bstepback ([a-z][a-z-]+)(?: ([a-z][a-z-]+)\b)?`)
	found := 0
	check := func(where, text string) {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			if slices.Contains(prose, m[1]) {
				continue
			}
			found++
			verb := child(root, m[1])
			switch {
			case verb == nil:
				t.Errorf("%s: there is no verb %q", where, m[0])
			case m[2] != "" && m[2] != "shows" && len(verb.Children) > 0 && verb.DefaultCmd == nil && child(verb, m[2]) == nil:
				t.Errorf("%s: %s has no verb %q", where, m[1], m[2])
			}
		}
	}
	for _, wing := range []string{"adaptive", "alarms", "cmd", "csvimport", "dashboards", "local", "outbox", "retrymetrics",
		"retrypatterns", "statemachine"} {
		if err := filepath.WalkDir(filepath.Join("../..", wing), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go"):
				return err
			case strings.HasSuffix(path, ".go"):
				return literals(path, check)
			case strings.HasSuffix(path, ".html"), strings.Contains(path, "alarms/testdata"):
				text, err := os.ReadFile(path)
				check(path, string(text))
				scripts(t, path, string(text))
				return err
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]+`")
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, span := range code.FindAllString(string(text), -1) {
			check(page, span)
		}
	}
	if found < 300 {
		t.Errorf("only %d commands were found in the texts", found)
	}
}

func child(n *kong.Node, name string) *kong.Node {
	for _, c := range n.Children {
		if c.Name == name || slices.Contains(c.Aliases, name) {
			return c
		}
	}
	return nil
}

// literals calls check for the string literals of a Go file.
func literals(path string, check func(where, text string)) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil {
				check(set.Position(l.Pos()).String(), text)
			}
		}
		return true
	})
	return nil
}

// scripts checks that the scripts that a text names exist.
func scripts(t *testing.T, path, text string) {
	t.Helper()
	for _, script := range regexp.MustCompile(`\b[a-z]+/[a-z-]+\.sh\b`).FindAllString(text, -1) {
		if _, err := os.Stat(filepath.Join("../..", script)); err != nil {
			t.Errorf("%s names %s: %v", path, script, err)
		}
	}
}
