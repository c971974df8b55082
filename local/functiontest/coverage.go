package functiontest

import (
	"context"
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"stepback/local/functiontest/recording"
	"stepback/retrypatterns/review/handlers"
	"stepback/stepbacktest/machinetest"
)

// element is a named operation that the coverage counts.
type element struct {
	name      string
	retryable bool // the code may retry it
	failing   bool // it can fail
}

// Merge adds the results of another test file to those that Coverage counts, if both test functions of the same
// sources. It reports whether they do.
func (f *File) Merge(other *File) bool {
	if !slices.Equal(f.Function.Sources, other.Function.Sources) {
		return false
	}
	f.results = append(f.results, other.results...)
	return true
}

// Coverage returns the combined coverage of the tests that have run. Its steps are those whose names the sources state
// as literals, and those that ran. Operations without names, waits and contexts are not counted. Sources that cannot be
// read contribute nothing.
func (f *File) Coverage(ctx context.Context) machinetest.OperationCoverage {
	var all []element
	known := map[string]bool{}
	add := func(e element) {
		if e.name != "" && !known[e.name] {
			known[e.name] = true
			all = append(all, e)
		}
	}
	for _, source := range f.Function.Sources {
		for _, e := range literals(ctx, source) {
			add(e)
		}
	}
	ran, retried, failed := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range f.results {
		for _, o := range r.Operations {
			switch o.Kind {
			case recording.Step:
				add(element{o.Name, true, true})
			case recording.Callback, recording.Invoke:
				add(element{o.Name, false, true})
			case recording.Condition:
				add(element{o.Name, false, true})
			case recording.Wait, recording.Context, recording.Submitter:
				continue
			}
			ran[o.Name] = true
			retried[o.Name] = retried[o.Name] || o.Retries() > 0
			failed[o.Name] = failed[o.Name] || !o.Open() && o.Outcome.Bad()
		}
	}
	c := machinetest.OperationCoverage{Function: f.Function.Sources[0]}
	for _, e := range all {
		c.Steps.Count(e.name, ran[e.name])
		if e.retryable {
			c.Retries.Count(e.name+" retry", retried[e.name])
		}
		if e.failing {
			c.Errors.Count(e.name+" error", failed[e.name])
		}
	}
	return c
}

// literals returns the operations whose names a source file states.
func literals(ctx context.Context, source string) []element {
	if filepath.Ext(source) == ".py" {
		return literalsOfPython(ctx, source)
	}
	info, err := os.Stat(source)
	if err != nil || info.Size() > handlers.MaxText {
		return nil
	}
	text, err := os.ReadFile(source)
	if err != nil {
		return nil
	}
	report, err := handlers.Review(source, string(text))
	if err != nil {
		return nil
	}
	var all []element
	for _, o := range report.Operations {
		if o.Kind == "runInChildContext" {
			continue
		}
		all = append(all, element{o.Name, o.Kind == "step" && o.Retried, true})
	}
	return all
}

// stepsOfPython lists the steps of a Python file, with Python's own parser.
//
//go:embed steps.py
var stepsOfPython string

// parseTimeout is the time limit for listing the steps of a file.
const parseTimeout = 10 * time.Second

func literalsOfPython(ctx context.Context, source string) []element {
	ctx, cancel := context.WithTimeout(ctx, parseTimeout)
	defer cancel()
	for _, command := range []string{"python3", "python"} {
		path, err := exec.LookPath(command)
		if err != nil {
			continue
		}
		//nolint:gosec // the owner's interpreter, which parses the owner's file
		out, err := exec.CommandContext(ctx, path, "-I", "-c", stepsOfPython, source).Output()
		if err != nil {
			return nil
		}
		var found []struct{ Kind, Name string }
		if json.Unmarshal(out, &found) != nil {
			return nil
		}
		all := make([]element, len(found))
		for i, o := range found {
			all[i] = element{o.Name, o.Kind == "step", true}
		}
		return all
	}
	return nil
}
