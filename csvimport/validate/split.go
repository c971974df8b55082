package validate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	"stepback/csvimport"
	"stepback/csvimport/csvfile"
	"stepback/csvimport/spool"
	"stepback/statemachine"
)

// readers is the number of reports that are read at a time.
const readers = 16

// Split says which ranges of a file have to be validated in this round.
type Split struct {
	Round  int                `json:"round"`  // from 0
	Plan   csvimport.Location `json:"plan"`   // see plan
	Ranges csvimport.Location `json:"ranges"` // the items of the Map: a JSON array of Range
	Count  int                `json:"count"`  // number of ranges in this round
	Of     int                `json:"of"`     // number of ranges in the file
	Bytes  int64              `json:"bytes"`  // size of the file
}

// Range is a range of a file that has to be validated.
type Range struct {
	Number int            `json:"number"` // from 0
	At     csvfile.Range  `json:"at"`
	Start  int64          `json:"start"` // offset of the first row, or csvfile.Unknown
	Layout csvfile.Layout `json:"layout"`
}

// plan describes the ranges of a file.
type plan struct {
	Size   int64           `json:"size"`
	Layout csvfile.Layout  `json:"layout"`
	Ranges []csvfile.Range `json:"ranges"`
}

// splitPlace returns the location of an object of the split.
func (in Input) splitPlace(format string, args ...any) csvimport.Location {
	return csvimport.Location{Bucket: in.workBucket(),
		Key: csvimport.JoinKey(csvimport.JoinKey(in.WorkPrefix, "split"), fmt.Sprintf(format, args...))}
}

// split reads the head of a large file and returns the ranges to validate first, which are all.
func (v *Validator) split(ctx context.Context, in Input, size int64) (Output, error) {
	if size > MaxFileBytes {
		return Output{}, csvimport.Fail(statemachine.CSVFileTooLarge,
			"%d bytes are more than %d parts of at most %d bytes: split the file", size, statemachine.MaxParts,
			int64(statemachine.MaxPartBytes))
	}
	layout, err := v.inspect(ctx, in, "")
	if err != nil {
		return Output{}, err
	}
	count := min((size+v.partBytes()-1)/v.partBytes(), statemachine.MaxParts)
	p := plan{Size: size, Layout: layout, Ranges: layout.Ranges(size, int(count))}
	return v.begin(ctx, in, 0, p, p.all())
}

func (v *Validator) inspect(ctx context.Context, in Input, assume csvfile.Encoding) (csvfile.Layout, error) {
	file := in.file()
	object, err := v.Objects.Get(ctx, file.at, file.etag)
	if err != nil {
		return csvfile.Layout{}, err
	}
	defer object.Body.Close()
	return csvfile.Inspect(object.Body, assume)
}

// all returns all ranges, to be read from where their first rows may begin.
func (p plan) all() []csvfile.Restart {
	all := make([]csvfile.Restart, len(p.Ranges))
	for i := range all {
		all[i] = csvfile.Restart{Range: i, Start: csvfile.Unknown}
	}
	return all
}

// begin writes what a round needs, and returns the round.
func (v *Validator) begin(ctx context.Context, in Input, round int, p plan, redo []csvfile.Restart) (Output, error) {
	s := &Split{Round: round, Plan: in.splitPlace("plan-%d.json", round), Ranges: in.splitPlace("ranges-%d.json", round),
		Count: len(redo), Of: len(p.Ranges), Bytes: p.Size}
	items := make([]Range, len(redo))
	for i, r := range redo {
		items[i] = Range{Number: r.Range, At: p.Ranges[r.Range], Start: r.Start, Layout: p.Layout}
	}
	if err := csvimport.PutJSON(ctx, v.Objects, s.Plan, p); err != nil {
		return Output{}, err
	}
	if err := csvimport.PutJSON(ctx, v.Objects, s.Ranges, items); err != nil {
		return Output{}, err
	}
	return Output{Valid: true, Encoding: p.Layout.Encoding, Delimiter: p.Layout.Delimiter.String(), Normalised: false,
		Data:     csvimport.Data{Location: csvimport.Location{Bucket: in.Source.Bucket, Key: in.Source.Key}},
		Problems: []csvimport.Problem{}, Split: s}, nil
}

// rangeReport is the result of validating a range.
type rangeReport struct {
	csvfile.RangeReport
	Failure *struct{ Name, Message string } `json:",omitempty"` // why the file cannot be imported
}

// RangeOutput is the result of the step ValidateRange.
type RangeOutput struct {
	Number int `json:"number"`
}

// ValidateRange checks a range of a file, writes its rows as the object that the Map reads, and writes a report. If the
// file cannot be imported, the report says so and ValidateCSVFile fails with it, because an error here would be hidden
// behind that of the Map.
func (v *Validator) ValidateRange(ctx context.Context, in Input) (RangeOutput, error) {
	in.Source = in.Source.Normal()
	if err := checkInput(in); err != nil {
		return RangeOutput{}, err
	}
	r := *in.Range
	var report rangeReport
	var err error
	if report.RangeReport, err = v.writePart(ctx, in, r); err != nil {
		f := csvimport.AsFailure(err)
		if !statemachine.IsRefusal(f.Name) {
			return RangeOutput{}, err
		}
		report.Failure = &struct{ Name, Message string }{f.Name, f.Message}
	}
	return RangeOutput{r.Number}, csvimport.PutJSON(ctx, v.Objects, in.splitPlace("range-%05d.json", r.Number), report)
}

// rangeHeader is the header of a part that is copied as it is.
const rangeHeader = "user_id,login_count,post_count\n"

// writePart reads a range once, keeping its bytes in a temporary file, and stores them below a header. If the range is
// not regular, it reads it again and stores a normalised copy.
func (v *Validator) writePart(ctx context.Context, in Input, r Range) (csvfile.RangeReport, error) {
	file, err := spool.Create("range")
	if err != nil {
		return csvfile.RangeReport{}, err
	}
	defer file.Close()
	// The header is written over what precedes the first row: a line of another range, or these blanks.
	if _, err := file.Write(make([]byte, len(rangeHeader))); err != nil {
		return csvfile.RangeReport{}, err
	}
	var report csvfile.RangeReport
	err = v.readRange(ctx, in, r, file, func(reader *csvfile.RangeReader) (err error) {
		report, err = csvfile.CheckRange(reader)
		return err
	})
	if err != nil {
		return report, err
	}
	to := in.splitPlace("part-%05d.csv", r.Number)
	if !report.Regular {
		_ = file.Close() // the disk need not hold both
		r.Start = report.Start
		return report, v.normaliseRange(ctx, in, r, report, to)
	}
	begin := report.Start - r.Layout.Offset(r.At) // where the header goes
	if _, err := file.WriteAt([]byte(rangeHeader), begin); err != nil {
		return report, err
	}
	return report, file.PutSection(ctx, v.Objects, to, begin, int64(len(rangeHeader))+report.Next-report.Start,
		contentType)
}

func (v *Validator) normaliseRange(ctx context.Context, in Input, r Range, report csvfile.RangeReport,
	to csvimport.Location) error {
	file, err := spool.Create("normalised")
	if err != nil {
		return err
	}
	defer file.Close()
	err = v.readRange(ctx, in, r, nil, func(reader *csvfile.RangeReader) error {
		rows, err := csvfile.Normalise(&reader.Reader, file, nil)
		if err == nil && rows != report.Rows {
			return csvimport.Fail(statemachine.CSVFileChanged,
				"%s had %d rows when it was checked and %d when it was copied, from byte %d on", in.Source, report.Rows, rows,
				r.Start)
		}
		return err
	})
	if err != nil {
		return err
	}
	return file.Put(ctx, v.Objects, to, contentType)
}

// readRange opens a range and calls read with its reader. If file is not nil, it receives all bytes that are read, from
// the layout's offset of the range on.
func (v *Validator) readRange(ctx context.Context, in Input, r Range, file *spool.File,
	read func(*csvfile.RangeReader) error) error {
	upload := in.file()
	object, err := v.Objects.GetFrom(ctx, upload.at, upload.etag, r.Layout.Offset(r.At))
	if err != nil {
		return err
	}
	defer object.Body.Close()
	var src io.Reader = object.Body
	if file != nil {
		src = io.TeeReader(src, file)
	}
	reader, err := r.Layout.NewRangeReader(src, r.At, r.Start)
	if err != nil {
		return err
	}
	return read(reader)
}

// join adds up the reports of all ranges. It returns another round if ranges have to be read again, from other offsets
// or in another encoding; otherwise the file's parts, and the first of them.
func (v *Validator) join(ctx context.Context, in Input, s Split) (Output, error) {
	var p plan
	if err := csvimport.GetJSON(ctx, v.Objects, s.Plan, &p); err != nil {
		return Output{}, lost(err)
	}
	reports, err := v.reports(ctx, in, len(p.Ranges))
	if err != nil {
		return Output{}, err
	}
	evidence := make([]csvfile.Evidence, len(reports))
	for i, r := range reports {
		evidence[i] = r.Evidence
	}
	assume, err := p.Layout.Judge(evidence)
	switch {
	case assume != "":
		if p.Layout, err = v.inspect(ctx, in, assume); err != nil {
			return Output{}, err
		}
		return v.begin(ctx, in, s.Round+1, p, p.all())
	case err != nil:
		return Output{}, err
	}
	if redo := csvfile.Misplaced(reports); len(redo) > 0 {
		return v.begin(ctx, in, s.Round+1, p, redo)
	}
	return v.conclude(ctx, in, p, reports)
}

// reports reads the reports of all ranges. If one of them says that the file cannot be imported, it returns that
// failure.
func (v *Validator) reports(ctx context.Context, in Input, count int) ([]csvfile.RangeReport, error) {
	all := make([]rangeReport, count)
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for i := range all {
		group.Go(func() error {
			return lost(csvimport.GetJSON(within, v.Objects, in.splitPlace("range-%05d.json", i), &all[i]))
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	reports := make([]csvfile.RangeReport, count)
	for i, r := range all {
		if r.Failure != nil {
			return nil, &csvimport.Failure{Name: r.Failure.Name, Message: r.Failure.Message}
		}
		reports[i] = r.RangeReport
	}
	return reports, nil
}

// lost renames the error of an object of the split that does not exist, which would blame the uploaded file.
func lost(err error) error {
	if err != nil && isGone(err) {
		return csvimport.Fail(csvimport.UnexpectedError, "an object of the validation is missing: %w", err)
	}
	return err
}

// conclude writes the list of parts and returns the result of the validation.
func (v *Validator) conclude(ctx context.Context, in Input, p plan, reports []csvfile.RangeReport) (Output, error) {
	whole := csvfile.Report{Format: csvfile.Format{Encoding: p.Layout.Encoding, Delimiter: p.Layout.Delimiter}}
	list := csvimport.PartList{}
	lines := p.Layout.Lines
	for i, r := range reports {
		if r.Rows > 0 || i == len(reports)-1 && len(list.Parts) == 0 {
			list.Parts = append(list.Parts, csvimport.ListedPart{Data: in.splitPlace("part-%05d.csv", i), Rows: r.Rows,
				Offset: csvimport.Offset{Rows: whole.Rows, Lines: lines}})
		}
		for _, problem := range r.Problems[:min(len(r.Problems), csvfile.MaxProblems-len(whole.Problems))] {
			problem.Line += lines
			whole.Problems = append(whole.Problems, problem)
		}
		whole.Rows, whole.BadRows, whole.Count = whole.Rows+r.Rows, whole.BadRows+r.BadRows, whole.Count+r.Count
		lines += r.Lines
	}
	list.Rows = whole.Rows
	out := outputOf(in.Source, whole)
	if !out.Valid {
		return out, nil
	}
	at := in.splitPlace("parts.json")
	if err := csvimport.PutJSON(ctx, v.Objects, at, list); err != nil {
		return Output{}, err
	}
	first := list.Parts[0]
	out.Rows, out.Data.Location, out.Part = first.Rows, first.Data, list.Part(0, at)
	var err error
	out.Data.Letters, err = v.letters(ctx, in)
	return out, err
}

// Answer is the function's response, for one of its two steps.
type Answer struct {
	File  *Output
	Range *RangeOutput
}

// MarshalJSON marshals whichever of the two is set.
func (a Answer) MarshalJSON() ([]byte, error) {
	if a.Range != nil {
		return json.Marshal(a.Range)
	}
	return json.Marshal(a.File)
}

// Handle calls ValidateRange for an event with a range and Validate for any other.
func (v *Validator) Handle(ctx context.Context, in Input) (Answer, error) {
	if in.Range != nil {
		out, err := v.ValidateRange(ctx, in)
		return Answer{Range: &out}, err
	}
	out, err := v.Validate(ctx, in)
	return Answer{File: &out}, err
}
