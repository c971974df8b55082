package authoring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/narration"
	"stepback/cmd/stepback/terminal"
	"stepback/internal/strictyaml"
	"stepback/stepbacktest/machinetest"
)

// Test implements the verb test.
type Test struct {
	Files    []string `arg:"" optional:"" help:"Test files (NAME.test.yaml), or directories to search for them. Default: the working directory."`
	Only     string   `name:"run" placeholder:"REGEXP" help:"Only tests whose name matches."`
	Coverage bool     `help:"List the states, transitions, catchers and retriers that no test covers."`
	JUnit    string   `name:"junit" type:"path" placeholder:"FILE" help:"Also write the results as JUnit XML."`
	JSON     bool     `name:"json" help:"Print the results and the coverage as JSON."`
	Verbose  bool     `short:"v" help:"Print the history of tests that fail."`
}

// Help shows examples.
func (Test) Help() string {
	return `Examples:
  stepback test
  stepback test orders.test.yaml --run declined -v
  stepback test definitions --coverage --junit results.xml

A file orders.test.yaml beside orders.asl.json (or .asl.yaml) contains tests: an input, the tasks' responses (mocks by state, or a
testCase of a Step Functions Local file), faults, and the expected status, output, path, attempts and waits. Time is virtual. See
docs/testing.md. stepback record EXECUTION writes a test file from a real execution.

Exit status: 0 all tests pass; 1 a test fails; 2 wrong usage; 3 a test file or a definition is refused.`
}

// testJSON is the JSON form of a test result.
type testJSON struct {
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Name     string   `json:"name"`
	Passed   bool     `json:"passed"`
	Failures []string `json:"failures,omitempty"`
	Seconds  float64  `json:"realSeconds"`
}

// tested collects the results of all test files.
type tested struct {
	results  []*machinetest.Result
	coverage []machinetest.Coverage
	refused  bool
}

// Run runs the tests.
func (c *Test) Run(ctx context.Context, std terminal.Streams) error {
	only, err := regexp.Compile(c.Only)
	if err != nil {
		return exit.With(exit.Usage, fmt.Errorf("--run: %w", err))
	}
	files, err := testFiles(c.Files)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	began := time.Now()
	all := &tested{}
	for _, file := range files {
		if err := c.file(ctx, std, file, only, all); err != nil {
			return err
		}
	}
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
	for _, r := range all.results {
		if !r.Passed() {
			failed++
		}
	}
	if err := c.sum(std, all, failed, time.Since(began)); err != nil {
		return err
	}
	switch {
	case all.refused:
		return exit.With(exit.Data, nil)
	case failed > 0:
		return exit.With(exit.Failure, nil)
	default:
		return nil
	}
}

// file runs the tests of one file.
func (c *Test) file(ctx context.Context, std terminal.Streams, path string, only *regexp.Regexp, all *tested) error {
	text, err := definitions.ReadText(path, std)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	dir := filepath.Dir(path)
	f, err := machinetest.Parse(path, text, besideTest(path), beside{dir, std})
	if err != nil {
		all.refused = true
		var problems strictyaml.Problems
		var refused *machinetest.RefusedError
		switch {
		case errors.As(err, &refused) && std.ErrColour:
			fmt.Fprintln(std.Err, terminal.Coloured(refused.Text)+refused.File+": the definition would be refused")
		case errors.As(err, &problems), errors.As(err, &refused):
			fmt.Fprintln(std.Err, err)
		default:
			fmt.Fprintf(std.Err, "stepback: %v\n", err)
		}
		return nil
	}
	if f.Objects != "" && !filepath.IsAbs(f.Objects) {
		f.Objects = filepath.Join(dir, f.Objects)
	}
	var results []*machinetest.Result
	for i := range f.Tests {
		if !only.MatchString(f.Tests[i].Name) {
			continue
		}
		r, err := machinetest.Run(ctx, f, &f.Tests[i])
		if err != nil {
			return err
		}
		results = append(results, r)
		c.show(std, r)
	}
	all.results = append(all.results, results...)
	if c.Coverage || c.JSON {
		all.coverage = append(all.coverage, machinetest.Cover(f.Machine, filepath.Join(dir, f.Definition), results))
	}
	return nil
}

// show prints the result of a test.
func (c *Test) show(std terminal.Streams, r *machinetest.Result) {
	if c.JSON {
		return
	}
	on, verdict := std.OutScreen(), "PASS"
	if !r.Passed() {
		verdict = "FAIL"
	}
	fmt.Fprintf(std.Out, "%s  %s: %s\n", on.Status(verdict), r.File.Name, r.Test.Name)
	for _, f := range r.Failures {
		fmt.Fprintf(std.Out, "    %s\n", f)
	}
	if c.Verbose && !r.Passed() && r.Execution != nil {
		narration.PrintTrace(std.Out, r.Execution, r.Events, nil)
	}
}

// sum prints how many tests passed, and the states they covered.
func (c *Test) sum(std terminal.Streams, all *tested, failed int, took time.Duration) error {
	if c.JSON {
		tests := make([]testJSON, len(all.results))
		for i, r := range all.results {
			tests[i] = testJSON{r.File.Name, r.Test.Line, r.Test.Name, r.Passed(), r.Failures, r.Real.Seconds()}
		}
		return terminal.PrintJSON(std.Out, map[string]any{"tests": tests,
			"coverage": append([]machinetest.Coverage{}, all.coverage...)})
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
	_, err := fmt.Fprintf(std.Out, "%s, %d failed; %s\n", terminal.Counted(int64(len(all.results)), "test"), failed,
		took.Round(time.Millisecond))
	return err
}

func covered(s machinetest.Share) string { return fmt.Sprintf("%d/%d", s.Covered, s.All) }

// testFiles returns the named test files, and all test files in named directories.
func testFiles(named []string) ([]string, error) {
	if len(named) == 0 {
		named = []string{"."}
	}
	var files []string
	for _, name := range named {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, name)
			continue
		}
		before := len(files)
		err = filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && machinetest.IsTestFile(path) {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(files) == before {
			return nil, fmt.Errorf("%s has no *.test.yaml; stepback init writes an example", name)
		}
	}
	return files, nil
}

// besideTest returns the path of the definition that lies next to a test file and has the same base name.
func besideTest(path string) string {
	base := filepath.Base(path)
	for _, suffix := range []string{".test.yaml", ".test.yml"} {
		base = strings.TrimSuffix(base, suffix)
	}
	for _, suffix := range definitions.Suffixes {
		if terminal.Exists(filepath.Join(filepath.Dir(path), base+suffix)) {
			return base + suffix
		}
	}
	return base + definitions.Suffixes[0]
}

// beside opens the files that a test file names, relative to its directory.
type beside struct {
	dir string
	std terminal.Streams
}

func (b beside) path(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(b.dir, path)
}

// Definition implements machinetest.Opener.
func (b beside) Definition(path string, values map[string]string) (string, error) {
	d, err := definitions.Read("", b.path(path), values, b.std)
	if err != nil {
		return "", err
	}
	if problems := d.Document.Problems; len(problems) > 0 {
		return "", errors.New(d.Render(problems))
	}
	return d.Text, d.Lacks(false)
}

// Text implements machinetest.Opener.
func (b beside) Text(path string) ([]byte, error) { return definitions.ReadText(b.path(path), b.std) }
