package manyfiles

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"stepback/csvimport"
	"stepback/csvimport/aggregate"
	"stepback/csvimport/mapresults"
	"stepback/csvimport/spool"
	"stepback/retry"
	"stepback/statemachine"
)

// Counts are the rows of one file or of all of them, by outcome; see aggregate.Output.
type Counts struct {
	Rows           int64 `json:"rows"`
	Applied        int64 `json:"applied"`
	AlreadyApplied int64 `json:"alreadyApplied"`
	Rejected       int64 `json:"rejected"`
	DeadLettered   int64 `json:"deadLettered"`
	NotStarted     int64 `json:"notStarted,omitempty"`
}

func (c *Counts) add(d Counts) {
	c.Rows += d.Rows
	c.Applied += d.Applied
	c.AlreadyApplied += d.AlreadyApplied
	c.Rejected += d.Rejected
	c.DeadLettered += d.DeadLettered
	c.NotStarted += d.NotStarted
}

// Status is the result for a file.
type Status string

// Succeeded and the other statuses of Step Functions are those of the file's import. NotStarted is that of a file
// without an import. Unknown is that of a file whose import was not observed to its end.
const (
	Succeeded  Status = "SUCCEEDED"
	NotStarted Status = "NOT_STARTED"
	Unknown    Status = "UNKNOWN"
)

// FileResult is a line of files.jsonl. The counts of a file that was refused as a whole are 0.
type FileResult struct {
	Key       string `json:"key"`
	Execution string `json:"execution"` // name of the file's import; its output is under output/ of the result bucket
	Status    Status `json:"status"`
	// Earlier is true if the file's import had been started before, by its own event or by another import of many
	// files.
	Earlier bool   `json:"earlier,omitempty"`
	Error   string `json:"error,omitempty"`
	Cause   string `json:"cause,omitempty"` // cut to maxCause bytes
	Counts
}

// Summary is the result of SumFiles; summary.json has the same members.
type Summary struct {
	Request   json.RawMessage `json:"request"`
	Execution string          `json:"execution"`
	StartTime string          `json:"startTime,omitempty"`
	EndTime   time.Time       `json:"endTime"`
	Files     int64           `json:"files"`
	Succeeded int64           `json:"succeeded"`
	Failed    int64           `json:"failed"` // files + not succeeded; succeeded + failed = files
	// Unfinished counts, of the failed files, those without an import, and those whose import was not observed to its
	// end.
	Unfinished int64 `json:"unfinished"`
	Earlier    int64 `json:"earlier"` // of files, those with an earlier import
	Bytes      int64 `json:"bytes"`
	LeftOut          // objects below the prefix that are no files
	Counts
	MapError *aggregate.MapError `json:"mapError,omitempty"`
	// FailedFiles are the first files that did not succeed, at most maxFailedFiles in the order of the list.
	FailedFiles []FileResult       `json:"failedFiles"`
	Summary     csvimport.Location `json:"summary"`
	AllFiles    csvimport.Location `json:"allFiles"` // a JSON line for each file, in the order of the list
}

// The summary has to fit into a message and into the 256 KiB that Step Functions passes from state to state.
const (
	maxFailedFiles = 20
	maxCause       = 500
)

// Sum adds up the results of the imports. It fails with AggregateMismatch if the results contradict the list.
func (s *Steps) Sum(ctx context.Context, in Input) (Summary, error) {
	if in.List == nil || in.Results.Bucket == "" || in.Output.Bucket == "" {
		return Summary{}, csvimport.Fail(retry.InvalidInput, "the event lacks list, results.bucket or output.bucket")
	}
	x := sums{steps: s, in: in, index: map[string]int{}}
	if err := x.readList(ctx); err != nil {
		return Summary{}, err
	}
	if err := x.readResults(ctx); err != nil {
		return Summary{}, err
	}
	if err := x.readSummaries(ctx); err != nil {
		return Summary{}, err
	}
	return x.write(ctx)
}

// sums collects the results of one import of many files.
type sums struct {
	steps *Steps
	in    Input
	files []FileResult
	index map[string]int // into files, by the name of the file's import
}

// readList reads the list. A file of which no result is found was not started.
func (x *sums) readList(ctx context.Context) error {
	err := mapresults.Each(ctx, x.steps.Objects, x.in.List.List, func(_ context.Context, d *json.Decoder) error {
		var i item
		if err := d.Decode(&i); err != nil {
			return err
		}
		x.index[i.Execution] = len(x.files)
		x.files = append(x.files, FileResult{Key: i.Key, Execution: i.Execution, Status: NotStarted})
		return nil
	})
	if err == nil && int64(len(x.files)) != x.in.List.Files {
		err = x.mismatch("%s has %d files, and ListFiles counted %d", x.in.List.List, len(x.files), x.in.List.Files)
	}
	return err
}

func (x *sums) mismatch(format string, args ...any) error {
	return csvimport.Fail(statemachine.AggregateMismatch, "execution %s: %s", x.in.Execution, fmt.Sprintf(format, args...))
}

// child is a child execution in a file of results.
type child struct {
	Name, Input, Output, Status, Error, Cause string
}

// outcome is the output of a child execution. Its input, which a child that failed has instead, has the same file.
type outcome struct {
	File  item `json:"file"`
	Start *failed
	// Describe is the error of the request for the end of the import, which was started.
	Describe *failed
	Import   *struct {
		Status, Error, Cause, Output string
	}
}

type failed struct{ Error, Cause string }

// alreadyExists is the error of a start whose name was used before, by an import that has ended or has another input.
const alreadyExists = "StepFunctions.ExecutionAlreadyExistsException"

func (x *sums) readResults(ctx context.Context) error {
	m, ok, err := mapresults.Newest(ctx, x.steps.Objects, x.in.Results.Bucket, x.in.Results.Prefix)
	if err != nil {
		return err
	}
	if !ok && x.in.MapError == nil {
		return x.mismatch("the Map reports success, but there is no manifest.json under s3://%s/%s", x.in.Results.Bucket,
			x.in.Results.Prefix)
	}
	for _, group := range []struct {
		files []mapresults.File
		read  func(child) error
	}{{m.ResultFiles.SUCCEEDED, x.readEnded}, {m.ResultFiles.FAILED, x.readFailed}} {
		for _, file := range group.files {
			at := csvimport.Location{Bucket: m.DestinationBucket, Key: file.Key}
			err := mapresults.Each(ctx, x.steps.Objects, at, func(_ context.Context, d *json.Decoder) error {
				var c child
				if err := d.Decode(&c); err != nil {
					return err
				}
				return group.read(c)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// of returns the result of the file that a child's input or output names.
func (x *sums) of(text, child string) (outcome, *FileResult, error) {
	var o outcome
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return o, nil, fmt.Errorf("child execution %s: %w", child, err)
	}
	i, ok := x.index[o.File.Execution]
	if !ok {
		return o, nil, x.mismatch("the child execution %s is about %q, which is not in the list", child, o.File.Key)
	}
	return o, &x.files[i], nil
}

// readEnded reads a child that has seen the end of a file's import, or that could not start it.
func (x *sums) readEnded(c child) error {
	o, f, err := x.of(c.Output, c.Name)
	if err != nil {
		return err
	}
	if o.Import == nil {
		switch {
		case o.Start != nil:
			f.Error, f.Cause = o.Start.Error, shortened(o.Start.Cause)
		case o.Describe != nil:
			f.Status, f.Error, f.Cause = Unknown, o.Describe.Error, shortened(o.Describe.Cause)
		}
		return nil
	}
	f.Status, f.Error, f.Cause = Status(o.Import.Status), o.Import.Error, shortened(o.Import.Cause)
	f.Earlier = o.Start != nil && o.Start.Error == alreadyExists
	if f.Status == Succeeded {
		if err := json.Unmarshal([]byte(o.Import.Output), &f.Counts); err != nil {
			return fmt.Errorf("the output of the execution %s: %w", f.Execution, err)
		}
	}
	return nil
}

// readFailed reads a child that failed, timed out or was stopped itself, so that the end of the file's import is not
// known.
func (x *sums) readFailed(c child) error {
	if c.Input == "" {
		return nil
	}
	_, f, err := x.of(c.Input, c.Name)
	if err != nil {
		return err
	}
	f.Status, f.Error = Unknown, cmp.Or(c.Error, c.Status)
	f.Cause = shortened(cmp.Or(c.Cause, fmt.Sprintf("the child execution %s ended with status %s", c.Name, c.Status)))
	return nil
}

// shortened cuts a text to at most maxCause bytes, at the end of a character.
func shortened(text string) string {
	if len(text) <= maxCause {
		return text
	}
	cut := maxCause - len("…")
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// readSummaries reads the counts of the files that did not succeed, from the summaries of their imports. A file that
// was refused as a whole, or not started, has none.
func (x *sums) readSummaries(ctx context.Context) error {
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(requests)
	for i := range x.files {
		f := &x.files[i]
		if f.Status == Succeeded || f.Status == NotStarted {
			continue
		}
		group.Go(func() error {
			at := csvimport.Location{Bucket: x.in.Output.Bucket,
				Key: csvimport.JoinKey(statemachine.OutputPrefix(f.Execution), "summary.json")}
			err := csvimport.GetJSON(within, x.steps.Objects, at, &f.Counts)
			if isMissing(err) {
				err = nil
			}
			return err
		})
	}
	return group.Wait()
}

// write stores files.jsonl and, at the end, the summary.
func (x *sums) write(ctx context.Context) (Summary, error) {
	out := Summary{
		Request: x.in.Request, Execution: x.in.Execution, StartTime: x.in.StartTime, EndTime: x.steps.now(),
		Files: int64(len(x.files)), Bytes: x.in.List.Bytes, LeftOut: x.in.List.LeftOut,
		MapError: x.in.MapError, FailedFiles: []FileResult{},
		Summary: x.in.Output.Object("summary.json"), AllFiles: x.in.Output.Object("files.jsonl"),
	}
	lines, err := spool.Create("files")
	if err != nil {
		return Summary{}, err
	}
	defer lines.Close()
	buffered := bufio.NewWriter(lines)
	encoder := json.NewEncoder(buffered)
	encoder.SetEscapeHTML(false)
	for _, f := range x.files {
		out.add(f.Counts)
		if f.Earlier {
			out.Earlier++
		}
		if f.Status == NotStarted || f.Status == Unknown {
			out.Unfinished++
		}
		if f.Status == Succeeded {
			out.Succeeded++
		} else if out.Failed++; len(out.FailedFiles) < maxFailedFiles {
			out.FailedFiles = append(out.FailedFiles, f)
		}
		if err := encoder.Encode(f); err != nil {
			return Summary{}, err
		}
	}
	if err := buffered.Flush(); err != nil {
		return Summary{}, err
	}
	if err := lines.Put(ctx, x.steps.Objects, out.AllFiles, "application/x-ndjson"); err != nil {
		return Summary{}, err
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return Summary{}, err
	}
	body := string(text) + "\n"
	return out, x.steps.Objects.Put(ctx, out.Summary, strings.NewReader(body), int64(len(body)), "application/json")
}

func (s *Steps) now() time.Time {
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	return now().UTC().Truncate(time.Millisecond)
}

// Answer is the result of either step.
type Answer struct {
	List *Report
	Sum  *Summary
}

// MarshalJSON marshals whichever of the two is set.
func (a Answer) MarshalJSON() ([]byte, error) {
	if a.Sum != nil {
		return json.Marshal(a.Sum)
	}
	return json.Marshal(a.List)
}

// Handle calls Sum for an event with a list and List for any other.
func (s *Steps) Handle(ctx context.Context, in Input) (Answer, error) {
	if in.List != nil {
		out, err := s.Sum(ctx, in)
		return Answer{Sum: &out}, err
	}
	out, err := s.List(ctx, in)
	return Answer{List: &out}, err
}
