package checks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/narration"
	"stepback/cmd/stepback/rerun"
	"stepback/cmd/stepback/terminal"
	"stepback/internal/spelling"
	"stepback/internal/strictyaml"
	"stepback/stepbacktest/machinetest"
)

// Test implements the verb test.
type Test struct {
	Files    []string `arg:"" optional:"" help:"Test files (NAME.test.yaml), or directories to search for them. Default: the working directory."`
	Only     string   `name:"run" placeholder:"REGEXP" help:"Only tests whose name matches."`
	Watch    bool     `short:"w" help:"Run again whenever a test file, or a file that it names, changes, until Ctrl-C."`
	Coverage bool     `help:"List the states, transitions, catchers and retriers, or the steps of durable functions, that no test covers."`
	JUnit    string   `name:"junit" type:"path" placeholder:"FILE" help:"Also write the results as JUnit XML."`
	JSON     bool     `name:"json" help:"Print the results and the coverage as JSON."`
	Verbose  bool     `short:"v" help:"Print the history of tests that fail."`
}

// Help shows examples.
func (Test) Help() string {
	return `Examples:
  stepback test
  stepback test orders.test.yaml --run declined -v
  stepback test --watch
  stepback test definitions --coverage --junit results.xml
  stepback test functions/pay.test.yaml -v

A file orders.test.yaml beside orders.asl.json (or .asl.yaml) contains tests: an input, the tasks' responses (mocks by state, or a
testCase of a Step Functions Local file), faults, and the expected status, output, path, attempts and waits. Time is virtual. See
docs/testing.md. stepback record EXECUTION writes a test file from a real execution.

A file pay.test.yaml with the member function tests a durable Lambda function in JavaScript or Python: its handler runs with AWS's
SDK, and the mocks replace the bodies of steps, callbacks and chained invokes by name. See docs/durable-functions.md.

A test file that cannot be run does not keep the others from running.

Exit status: 0 all tests pass; 1 a test fails; 2 wrong usage; 3 a test file or a definition is refused; 6 no test matches --run.`
}

// testJSON is the JSON form of a test result.
type testJSON struct {
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Name     string   `json:"name"`
	Passed   bool     `json:"passed"`
	Failures []string `json:"failures,omitempty"`
	Notes    []string `json:"notes,omitempty"`
	Seconds  float64  `json:"realSeconds"`
}

// FunctionFile is a test file of a durable function.
type FunctionFile interface {
	// Names returns the names of the tests, in the order of the file.
	Names() []string
	// Files returns the files and directories that determine the results besides the test file.
	Files() []string
	// RunTest runs the test with an index in Names. trace prints the history of its execution. The error says why the
	// function cannot be tested, or is ctx's.
	RunTest(ctx context.Context, i int) (r machinetest.Report, trace func(io.Writer), err error)
	// Merge adds the results of another file to those that Coverage counts, if both test functions of the same sources.
	// It reports whether they do.
	Merge(other FunctionFile) bool
	// Coverage returns the combined coverage of the tests that have run.
	Coverage(ctx context.Context) machinetest.OperationCoverage
}

// ParseFunctionFile parses a test file of a durable function, which is in the directory dir. read reads a file that it
// names, relative to dir. The error is strictyaml's Problems.
type ParseFunctionFile func(name string, text []byte, dir string, read func(path string) ([]byte, error)) (FunctionFile, error)

// parseFunctionFile is the function that main registers; nil in a build that links no services.
var parseFunctionFile ParseFunctionFile

// RegisterFunctions sets how test files of durable functions are run. The command calls it once, before it reads its
// command line; a build with the tag checks does not.
func RegisterFunctions(parse ParseFunctionFile) { parseFunctionFile = parse }

// tested collects the results of all test files.
type tested struct {
	results   []machinetest.Report
	coverage  []machinetest.Coverage
	covering  []FunctionFile // merged by their sources
	functions []machinetest.OperationCoverage
	names     []string // of all tests, whether or not they match --run
	refused   int      // test files that could not be run
	opened    []string // the test files, the files that they name, and the directories that were searched
}

// Run runs the tests, repeatedly with --watch.
func (c *Test) Run(ctx context.Context, std terminal.Streams) error {
	only, err := regexp.Compile(c.Only)
	if err != nil {
		return exit.With(exit.Usage, fmt.Errorf("--run: %w", err))
	}
	if !c.Watch {
		return c.once(ctx, std, only, &tested{})
	}
	all := &tested{opened: c.named()}
	return rerun.OnChange(ctx, std.Err, func() []string { return all.opened }, func() error {
		before := all
		all = &tested{opened: c.named()}
		err := c.once(ctx, std, only, all)
		if all.refused > 0 { // such as while a build writes the files: nothing names what is missing now
			all.opened = append(all.opened, before.opened...)
			slices.Sort(all.opened)
			all.opened = slices.Compact(all.opened)
		}
		return err
	})
}

// named returns the files and directories that the command line names.
func (c *Test) named() []string {
	if len(c.Files) == 0 {
		return []string{"."}
	}
	return slices.Clone(c.Files)
}

// once runs the tests once.
func (c *Test) once(ctx context.Context, std terminal.Streams, only *regexp.Regexp, all *tested) error {
	began := time.Now()
	files, unread := testFiles(c.named())
	for _, file := range files {
		all.opened = append(all.opened, file, filepath.Dir(file))
		if err := c.file(ctx, std, file, only, all); err != nil {
			return err
		}
	}
	if c.Coverage || c.JSON {
		for _, f := range all.covering {
			all.functions = append(all.functions, f.Coverage(ctx))
		}
	}
	slices.Sort(all.opened)
	all.opened = slices.Compact(all.opened)
	if c.JUnit != "" {
		var b bytes.Buffer
		if err := machinetest.JUnit(&b, all.results); err != nil {
			return err
		}
		if err := os.WriteFile(c.JUnit, b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	failed := 0
	for i := range all.results {
		if !all.results[i].Passed() {
			failed++
		}
	}
	if len(files) > 0 || len(unread) == 0 {
		if err := c.sum(std, all, failed, time.Since(began)); err != nil {
			return err
		}
	}
	status := definitions.Status(std, unread, all.refused > 0)
	switch {
	case status != nil:
		return status
	case failed > 0:
		return exit.With(exit.Failure, nil)
	case len(all.results) == 0:
		return exit.With(exit.NoTest, noTest(c.Only, all.names))
	default:
		return nil
	}
}

// noTest returns the error that no test matches a regular expression.
func noTest(only string, names []string) error {
	meant := spelling.Nearest(only, names)
	for i := 0; i < len(names) && meant == ""; i++ {
		if spelling.Nearest(only, strings.Fields(names[i])) != "" {
			meant = names[i]
		}
	}
	switch {
	case meant != "":
		return fmt.Errorf("no test matches --run %q; did you mean %q?", only, meant)
	case len(names) == 0:
		return errors.New("there is no test")
	default:
		return fmt.Errorf("no test matches --run %q; there are %s, such as %q", only,
			terminal.Counted(int64(len(names)), "test"), names[0])
	}
}

// file runs the tests of one file. It returns an error only if ctx has ended; why a file cannot be run is printed and
// counted.
func (c *Test) file(ctx context.Context, std terminal.Streams, path string, only *regexp.Regexp, all *tested) error {
	dir := filepath.Dir(path)
	text, err := definitions.ReadText(path, std)
	if err == nil && machinetest.FunctionLine(text) > 0 {
		return c.functionFile(ctx, std, path, text, only, all)
	}
	var f *machinetest.File
	if err == nil {
		f, err = machinetest.Parse(path, text, besideTest(path), beside{dir, std, all})
	}
	if err != nil {
		all.refuse(std, err)
		return ctx.Err()
	}
	if f.Objects != "" && !filepath.IsAbs(f.Objects) {
		f.Objects = filepath.Join(dir, f.Objects)
	}
	if f.Objects != "" {
		all.opened = append(all.opened, f.Objects)
	}
	var results []*machinetest.Result
	for i := range f.Tests {
		all.names = append(all.names, f.Tests[i].Name)
		if !only.MatchString(f.Tests[i].Name) {
			continue
		}
		r, err := machinetest.Run(ctx, f, &f.Tests[i])
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			all.refused++
			fmt.Fprintf(std.Err, "stepback: %v\n", err)
			break // all tests of the file have the same definition and objects
		}
		results = append(results, r)
		report := r.Report()
		c.show(std, &report, func(w io.Writer) {
			if r.Execution != nil {
				narration.PrintTrace(w, r.Execution, r.Events, nil)
			}
		})
		all.results = append(all.results, report)
	}
	if c.Coverage || c.JSON {
		all.coverage = append(all.coverage, machinetest.Cover(f.Machine, filepath.Join(dir, f.Definition), results))
	}
	return nil
}

// refuse prints why a test file cannot be run, and counts it.
func (all *tested) refuse(std terminal.Streams, err error) {
	all.refused++
	var problems strictyaml.Problems
	var refused *machinetest.RefusedError
	switch {
	case errors.As(err, &refused) && std.ErrColour:
		fmt.Fprintln(std.Err, terminal.Coloured(refused.Text)+refused.File+": the definition would be refused")
	case errors.As(err, &problems), errors.As(err, &refused):
		fmt.Fprintln(std.Err, err)
	default:
		fmt.Fprintf(std.Err, "stepback: %s\n", terminal.Words(err))
	}
}

// functionFile runs the tests of a durable function as file runs those of a state machine.
func (c *Test) functionFile(
	ctx context.Context, std terminal.Streams, path string, text []byte, only *regexp.Regexp, all *tested,
) error {
	if parseFunctionFile == nil {
		all.refuse(std, fmt.Errorf("%s:%d: function: tests of durable functions need the whole program: this build has no services (make build has them)",
			path, machinetest.FunctionLine(text)))
		return nil
	}
	dir := filepath.Dir(path)
	f, err := parseFunctionFile(path, text, dir, beside{dir, std, all}.Text)
	if err != nil {
		all.refuse(std, err)
		return ctx.Err()
	}
	all.opened = append(all.opened, f.Files()...)
	for i, name := range f.Names() {
		all.names = append(all.names, name)
		if !only.MatchString(name) {
			continue
		}
		report, trace, err := f.RunTest(ctx, i)
		if err != nil {
			if ctx.Err() == nil {
				all.refuse(std, err)
			}
			return ctx.Err() // all tests of the file have the same function
		}
		all.results = append(all.results, report)
		c.show(std, &report, trace)
	}
	if !slices.ContainsFunc(all.covering, func(g FunctionFile) bool { return g.Merge(f) }) {
		all.covering = append(all.covering, f)
	}
	return nil
}

// show prints the result of a test. trace prints the history of its execution.
func (c *Test) show(std terminal.Streams, r *machinetest.Report, trace func(io.Writer)) {
	if c.JSON {
		return
	}
	on, verdict := std.OutScreen(), "PASS"
	if !r.Passed() {
		verdict = "FAIL"
	}
	fmt.Fprintf(std.Out, "%s  %s: %s\n", on.Status(verdict), r.File, r.Name)
	for _, f := range r.Failures {
		fmt.Fprintf(std.Out, "    %s\n", f)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(std.Out, "    note: %s\n", n)
	}
	if c.Verbose && !r.Passed() {
		trace(std.Out)
	}
}

// sum prints how many tests passed, and the states they covered.
func (c *Test) sum(std terminal.Streams, all *tested, failed int, took time.Duration) error {
	if c.JSON {
		tests := make([]testJSON, len(all.results))
		for i := range all.results {
			r := &all.results[i]
			tests[i] = testJSON{r.File, r.Line, r.Name, r.Passed(), r.Failures, r.Notes, r.Real.Seconds()}
		}
		return terminal.PrintJSON(std.Out, map[string]any{"tests": tests,
			"coverage":  append([]machinetest.Coverage{}, all.coverage...),
			"functions": append([]machinetest.OperationCoverage{}, all.functions...)})
	}
	if len(all.coverage) > 0 {
		fmt.Fprintln(std.Out)
		t := terminal.NewTable("covered", ">states", ">transitions", ">catchers", ">retriers", "missed")
		for i := range all.coverage {
			x := &all.coverage[i]
			var missed []string
			for _, s := range []machinetest.Share{x.States, x.Transitions, x.Catchers, x.Retriers} {
				missed = append(missed, s.Missed...)
			}
			t.Add(terminal.ShortPath(x.Definition), covered(x.States), covered(x.Transitions), covered(x.Catchers),
				covered(x.Retriers),
				strings.Join(missed, ", "))
		}
		t.Print(std.Out, "")
	}
	if len(all.functions) > 0 {
		fmt.Fprintln(std.Out)
		t := terminal.NewTable("covered", ">steps", ">retries", ">errors", "missed")
		for i := range all.functions {
			x := &all.functions[i]
			t.Add(terminal.ShortPath(x.Function), covered(x.Steps), covered(x.Retries), covered(x.Errors),
				strings.Join(slices.Concat(x.Steps.Missed, x.Retries.Missed, x.Errors.Missed), ", "))
		}
		t.Print(std.Out, "")
	}
	refused := ""
	if all.refused > 0 {
		refused = ", " + terminal.Counted(int64(all.refused), "file") + " not run"
	}
	_, err := fmt.Fprintf(std.Out, "%s, %d failed%s; %s\n", terminal.Counted(int64(len(all.results)), "test"), failed,
		refused, took.Round(time.Millisecond))
	return err
}

func covered(s machinetest.Share) string { return fmt.Sprintf("%d/%d", s.Covered, s.All) }
