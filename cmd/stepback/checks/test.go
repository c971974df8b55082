package checks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
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
  stepback test --watch
  stepback test definitions --coverage --junit results.xml

A file orders.test.yaml beside orders.asl.json (or .asl.yaml) contains tests: an input, the tasks' responses (mocks by state, or a
testCase of a Step Functions Local file), faults, and the expected status, output, path, attempts and waits. Time is virtual. See
docs/testing.md. stepback record EXECUTION writes a test file from a real execution.

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

// tested collects the results of all test files.
type tested struct {
	results  []*machinetest.Result
	coverage []machinetest.Coverage
	names    []string // of all tests, whether or not they match --run
	refused  int      // test files that could not be run
	opened   []string // the test files, the files that they name, and the directories that were searched
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
		all = &tested{opened: c.named()}
		return c.once(ctx, std, only, all)
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
	for _, r := range all.results {
		if !r.Passed() {
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
	var f *machinetest.File
	if err == nil {
		f, err = machinetest.Parse(path, text, besideTest(path), beside{dir, std, all})
	}
	if err != nil {
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
	for _, n := range r.Notes {
		fmt.Fprintf(std.Out, "    note: %s\n", n)
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
			tests[i] = testJSON{r.File.Name, r.Test.Line, r.Test.Name, r.Passed(), r.Failures, r.Notes,
				r.Real.Seconds()}
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
	refused := ""
	if all.refused > 0 {
		refused = ", " + terminal.Counted(int64(all.refused), "file") + " not run"
	}
	_, err := fmt.Fprintf(std.Out, "%s, %d failed%s; %s\n", terminal.Counted(int64(len(all.results)), "test"), failed,
		refused, took.Round(time.Millisecond))
	return err
}

func covered(s machinetest.Share) string { return fmt.Sprintf("%d/%d", s.Covered, s.All) }

// testFiles returns the named test files, and all test files in named directories. unread are the names that do not
// exist or hold no test file, and directories that cannot be searched.
func testFiles(named []string) (files []string, unread []definitions.Unread) {
	fails := func(path string, err error, isNamed bool) {
		if of, ok := errors.AsType[*fs.PathError](err); ok {
			err = of.Err
		}
		unread = append(unread, definitions.Unread{Path: path, Err: err, Named: isNamed})
	}
	for _, name := range named {
		info, err := os.Stat(name)
		if err != nil {
			fails(name, err, true)
			continue
		}
		if !info.IsDir() {
			files = append(files, name)
			continue
		}
		before, failed := len(files), len(unread)
		_ = filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				fails(path, err, false)
				if entry != nil && entry.IsDir() {
					return fs.SkipDir
				}
			case entry.IsDir() && path != name && definitions.IsBuilt(entry.Name()):
				return fs.SkipDir
			case !entry.IsDir() && machinetest.IsTestFile(path):
				files = append(files, path)
			}
			return nil
		})
		if len(files) == before && len(unread) == failed {
			fails(name, errors.New("it has no *.test.yaml; stepback init writes an example"), true)
		}
	}
	return files, unread
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
	all *tested
}

// path returns the path of a file that is opened.
func (b beside) path(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.dir, path)
	}
	file, _ := definitions.PartOf(path)
	b.all.opened = append(b.all.opened, file)
	return path
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
func (b beside) Text(path string) ([]byte, error) {
	text, err := definitions.ReadText(b.path(path), b.std)
	return terminal.WithoutMark(text), err
}
