package imports

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stepback/adaptive/cost"
	"stepback/adaptive/worth"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/csvimport/manyfiles"
	"stepback/csvimport/pipeline"
	"stepback/statemachine"
)

// input is a file to import. Key is the key of its object: its path below the folder that was named, so that files of
// the same name in two folders are two objects.
type input struct {
	Path string `json:"path"`
	Key  string `json:"key"`
	Size int64  `json:"bytes"`
}

// inputs returns the files of a folder and the folders below it, sorted by key, or those that a manifest lists, in its
// order. Names that begin with a dot are not considered. without counts the other files of a folder that are not taken.
func inputs(from string) (all []input, without manyfiles.LeftOut, err error) {
	info, err := os.Stat(from)
	if err != nil {
		return nil, without, err
	}
	if !info.IsDir() {
		all, err = manifest(from)
		return all, without, err
	}
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		hidden := path != from && strings.HasPrefix(d.Name(), ".")
		switch {
		case err != nil:
			return err
		case hidden && d.IsDir():
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		key, err := filepath.Rel(from, path)
		switch {
		case err != nil:
		case manyfiles.Takes(filepath.ToSlash(key)):
			all, err = addInput(all, path, key)
		case !hidden:
			without.Add(filepath.ToSlash(key))
		}
		return err
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s contains no file that ends in %s", from, strings.Join(manyfiles.Extensions(), ", "))
		if without.Count > 0 {
			err = fmt.Errorf("%w; it contains %s", err, without.Names())
		}
	}
	slices.SortFunc(all, func(a, b input) int { return strings.Compare(a.Key, b.Key) })
	return all, without, err
}

// maxProblems is the number of lines of a manifest that an error names.
const maxProblems = 10

// manifest reads the paths of files from a text file, one in a line, relative to the manifest. Empty lines and lines
// that begin with # are left out. The error names the first lines that are wrong.
func manifest(file string) ([]input, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []input
	var problems []string
	seen := map[string]int{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		name := strings.TrimSpace(line)
		if name == "" || strings.HasPrefix(name, "#") {
			continue
		}
		path, key := name, strings.TrimPrefix(filepath.Clean(name), string(filepath.Separator))
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(file), path)
		}
		if key == ".." || strings.HasPrefix(key, "../") {
			key = strings.TrimPrefix(path, string(filepath.Separator))
		}
		if before := seen[key]; before > 0 {
			problems = append(problems, fmt.Sprintf("line %d: %s is already in line %d; list each file once", n, name, before))
			continue
		}
		seen[key] = n
		if all, err = addInput(all, path, key); err != nil {
			problems = append(problems, fmt.Sprintf("line %d: %s", n, terminal.Words(err)))
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s is no manifest, which lists paths, one in a line: %w", file, err)
	}
	if n := len(problems); n > 0 {
		more := ""
		if n > maxProblems {
			problems, more = problems[:maxProblems], fmt.Sprintf(" (and %d more lines)", n-maxProblems)
		}
		return nil, fmt.Errorf("%s: %s%s; correct the manifest: no file was imported", file, strings.Join(problems, "; "), more)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s lists no file; write the paths of CSV files, one in a line", file)
	}
	return all, nil
}

func addInput(all []input, name, key string) ([]input, error) {
	info, err := os.Stat(name)
	if err != nil {
		return all, err
	}
	if !info.Mode().IsRegular() {
		return all, fmt.Errorf("%s is not a regular file", name)
	}
	return append(all, input{name, path.Clean(filepath.ToSlash(key)), info.Size()}), nil
}

// estimate holds the size, cost and duration of an import, computed before it starts.
type estimate struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
	// Rows is estimated by the length of the first rows of each file.
	Rows int64 `json:"rows"`
	// USD and Duration are those of an import of these files on AWS, one after another, in bulk and without failures.
	USD      float64          `json:"usd"`
	Duration pipeline.Seconds `json:"seconds"`
	manyfiles.LeftOut
}

// estimateOf reads the beginning of each file.
func estimateOf(all []input) (estimate, error) {
	const capacity, keptDays, memory = 32, 30, 512 // of prod
	prices := cost.DefaultPrices(worth.Arm)
	e := estimate{Files: len(all)}
	options := statemachine.DefaultOptions()
	for _, f := range all {
		length, err := rowLength(f.Path)
		if err != nil {
			return e, err
		}
		rows := int64(float64(f.Size) / length)
		i := cost.Import{Files: 1, Rows: rows, RowBytes: length, Shape: statemachine.Bulk, BatchSize: options.BatchSize,
			MemoryMB: memory, Capacity: capacity, KeptDays: keptDays}
		e.Bytes += f.Size
		e.Rows += rows
		for _, item := range i.Items(prices) {
			e.USD += item.USD
		}
		e.Duration += pipeline.Seconds(i.Scale(options.Timeout, options.RangeConcurrency).Elapsed())
	}
	return e, nil
}

// rowLength returns the mean length of the first rows of a file in bytes, with their line breaks.
func rowLength(file string) (float64, error) {
	const read = 64 << 10
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, read))
	if err != nil {
		return 0, err
	}
	lines := max(bytes.Count(head, []byte("\n")), bytes.Count(head, []byte("\r")), 1)
	return max(float64(len(head))/float64(lines), 1), nil
}

// String returns the estimate as a sentence.
func (e estimate) String() string {
	usd := "less than 0.01 USD"
	if e.USD >= 0.01 {
		usd = fmt.Sprintf("%.2f USD", e.USD)
	}
	return fmt.Sprintf("%s, %s, about %s; on AWS %s and about %s", terminal.Counted(int64(e.Files), "file"),
		terminal.Counted(e.Bytes, "byte"), terminal.Counted(e.Rows, "row"), usd,
		terminal.Duration(time.Duration(e.Duration).Round(time.Second)))
}

// estimated prints what the import would need, and imports nothing.
func (c *Run) estimated(std terminal.Streams) error {
	var from []input
	var without manyfiles.LeftOut
	var err error
	switch {
	case c.Files != "":
		from, without, err = inputs(c.Files)
	case c.CSV != "":
		from, err = addInput(nil, c.CSV, filepath.Base(c.CSV))
	default:
		err = errors.New("--estimate needs --csv or --files")
	}
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	e, err := estimateOf(from)
	if err != nil {
		return err
	}
	e.LeftOut = without
	if c.JSON {
		return terminal.PrintJSON(std.Out, e)
	}
	fmt.Fprintln(std.Out, e)
	noteLeftOut(std.Out, without)
	return nil
}

// manyReport is the report of the import of many files. Rows adds up the rows of all files.
type manyReport struct {
	Files []fileReport  `json:"files"`
	Rows  pipeline.Rows `json:"rows"`
	manyfiles.LeftOut
}

// noteLeftOut names the files of a folder that are not imported.
func noteLeftOut(w io.Writer, l manyfiles.LeftOut) {
	if l.Count > 0 {
		fmt.Fprintf(w, "left out, because they do not end in %s: %s\n", strings.Join(manyfiles.Extensions(), ", "),
			terminal.Visible(l.Names()))
	}
}

type fileReport struct {
	Key string `json:"key"`
	*pipeline.Report
}

// importFiles imports files one after another as one import. A file that was imported before is not imported again. A
// file that is refused or fails does not keep the others from being imported.
func (c *Run) importFiles(ctx context.Context, p *pipeline.Pipeline, std terminal.Streams) (*manyReport, error) {
	all, without, err := inputs(c.Files)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	e, err := estimateOf(all)
	if err != nil {
		return nil, err
	}
	if !c.JSON {
		fmt.Fprintln(std.Err, e)
		noteLeftOut(std.Err, without)
	}
	many := &manyReport{LeftOut: without}
	for i, f := range all {
		var watch func(pipeline.Progress)
		done := func() {}
		if !c.JSON {
			bar := newProgress(std, fmt.Sprintf("%s (%d of %d)", terminal.Visible(f.Key), i+1, len(all)))
			watch, done = bar.update, bar.done
		}
		r, err := p.ImportAs(ctx, f.Path, f.Key, c.Again, watch)
		done()
		if unusable, ok := errors.AsType[*pipeline.FileError](err); ok {
			r, err = &pipeline.Report{Status: string(manyfiles.NotStarted), Error: unusable.Name,
				Cause: terminal.Words(unusable)}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Key, err)
		}
		many.Files = append(many.Files, fileReport{f.Key, r})
		if r.Rows != nil {
			many.Rows.Total += r.Rows.Total
			many.Rows.Applied += r.Rows.Applied
			many.Rows.AlreadyApplied += r.Rows.AlreadyApplied
			many.Rows.Rejected += r.Rows.Rejected
			many.Rows.DeadLettered += r.Rows.DeadLettered
			many.Rows.NotStarted += r.Rows.NotStarted
		}
	}
	if many.Rows.Total > 0 {
		many.Rows.FailedPercent = 100 * float64(many.Rows.Rejected+many.Rows.DeadLettered) / float64(many.Rows.Total)
	}
	return many, nil
}

// verdict returns the worst verdict of the files.
func (m *manyReport) verdict() pipeline.Verdict {
	worst := pipeline.Complete
	for _, f := range m.Files {
		worst = max(worst, f.Verdict())
	}
	return worst
}

// printMany prints a line for each file, the sums, and what to do about files that are not complete.
func printMany(w io.Writer, m *manyReport) {
	t := terminal.NewTable("file", "status", ">rows", ">applied", ">already", ">rejected", ">dead-lettered")
	for _, f := range m.Files {
		rows, status := pipeline.Rows{}, f.Status
		if f.Rows != nil {
			rows = *f.Rows
		}
		if f.Earlier {
			status += ", before"
		}
		t.Add(f.Key, status, terminal.Grouped(rows.Total), terminal.Grouped(rows.Applied),
			terminal.Grouped(rows.AlreadyApplied), terminal.Grouped(rows.Rejected), terminal.Grouped(rows.DeadLettered))
	}
	r := m.Rows
	t.Add(terminal.Counted(int64(len(m.Files)), "file"), "", terminal.Grouped(r.Total), terminal.Grouped(r.Applied),
		terminal.Grouped(r.AlreadyApplied), terminal.Grouped(r.Rejected), terminal.Grouped(r.DeadLettered))
	t.Print(w, "")
	for _, f := range m.Files {
		if f.Verdict() == pipeline.Complete {
			continue
		}
		fmt.Fprintf(w, "\n%s\n", terminal.Visible(f.Key))
		if f.Error != "" {
			fmt.Fprintf(w, "  %s: %s\n", f.Error, terminal.Visible(messageOf(f.Cause)))
		}
		advice := f.Advice()
		if f.Status == string(manyfiles.NotStarted) {
			advice = "Correct that and run the same command again; the other files are not imported twice."
		}
		if advice != "" {
			fmt.Fprintf(w, "  %s\n", advice)
		}
	}
}
