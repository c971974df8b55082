package validate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"stepback/csvimport"
	"stepback/csvimport/csvfile"
	"stepback/statemachine"
)

const (
	// DefaultMaxBytes is the default size limit of an upload: 100 GiB. It bounds the time and the cost of a file that
	// was uploaded by mistake; nothing else depends on it.
	DefaultMaxBytes = 100 << 30
	// MaxFileBytes is the largest size limit: as many of the largest parts as a file may have.
	MaxFileBytes = statemachine.MaxParts * statemachine.MaxPartBytes
)

// Input is the step's event.
type Input struct {
	Source     csvimport.Source `json:"source"`
	WorkBucket string           `json:"workBucket"` // bucket for the copy; the source's bucket if empty
	WorkPrefix string           `json:"workPrefix"`
	// Validation is the result of the previous round, if the file is validated in ranges; see Split.
	Validation *Validation `json:"validation"`
	// Range is set for the step ValidateRange.
	Range *Range `json:"range"`
}

// Validation is the result of the step in the state machine's data.
type Validation struct {
	Report struct {
		Split *Split `json:"split"`
	} `json:"report"`
}

// Output is the step's result.
type Output struct {
	Valid      bool             `json:"valid"` // false only if the file has rows and none of them can be imported
	Rows       int64            `json:"rows"`  // of the part that is applied first, without those that Data leaves out
	Encoding   csvfile.Encoding `json:"encoding"`
	Delimiter  string           `json:"delimiter"` // comma, tab or semicolon
	Normalised bool             `json:"normalised"`
	// the object that the ItemReader reads: a copy, unless the file is invalid
	Data         csvimport.Data      `json:"data"`
	ProblemCount int64               `json:"problemCount"`
	ProblemRows  int64               `json:"problemRows"` // rows that will be rejected
	Problems     []csvimport.Problem `json:"problems"`    // the first 100
	Reason       string              `json:"reason,omitempty"`
	// Part is the part of the file that is applied first.
	Part csvimport.Part `json:"part"`
	// Split is set if ranges of the file have to be validated before the other members are known.
	Split *Split `json:"split,omitempty"`
}

// Validator checks files.
type Validator struct {
	Objects   csvimport.Objects
	MaxBytes  int64   // size limit in bytes; 0 means DefaultMaxBytes
	PartBytes int64   // size of a part in bytes; 0 means statemachine.DefaultPartBytes
	Letters   Letters // nil refuses files whose rows came out of dead letters
}

// Letters names the dead letters of a file's rows, and claims those that the rows came out of.
type Letters interface {
	// Of returns the beginning of the IDs of the dead letters of the rows of source, whose results go to a bucket: that
	// of csvimport.Letters, or of csvimport.EarlierLetters if an earlier version has imported the file.
	Of(ctx context.Context, source csvimport.Source, bucket string) (string, error)
	// Enlist claims the letters of rows for the import of source, whose results go to a bucket. It returns why the
	// other rows must not be imported, by the rows' numbers. For the same source it always returns the same.
	Enlist(ctx context.Context, source csvimport.Source, bucket string, rows []csvfile.RowLetter) (
		leftOut map[int64]string, err error)
}

// Validate checks a file and copies it, so that the Map reads the checked version even if the upload is replaced in
// the meantime. If a file cannot be processed at all, the error is a *csvimport.Failure with a permanent name. Rows
// that cannot be imported are listed as problems in the output, and are rejected one by one later.
func (v *Validator) Validate(ctx context.Context, in Input) (Output, error) {
	in.Source = in.Source.Normal()
	if err := checkInput(in); err != nil {
		return Output{}, err
	}
	if in.Validation != nil && in.Validation.Report.Split != nil {
		out, err := v.join(ctx, in, *in.Validation.Report.Split)
		return out, v.explain(ctx, in.Source, err)
	}
	file := in.file()
	report, err := v.check(ctx, file)
	if large, ok := errors.AsType[*largeError](err); ok {
		out, err := v.split(ctx, in, large.size)
		return out, v.explain(ctx, in.Source, err)
	}
	if isGone(err) && v.Letters != nil { // after a first attempt, which has pinned the file
		if pinned, e := v.check(ctx, in.pinned()); !isGone(e) {
			file, report, err = in.pinned(), pinned, e
		}
	}
	if err != nil {
		return Output{}, v.explain(ctx, in.Source, err)
	}
	out := outputOf(in.Source, report)
	if !out.Valid {
		return out, nil
	}
	leftOut, err := v.enlist(ctx, in, &file, report)
	if err != nil {
		return Output{}, v.explain(ctx, in.Source, err)
	}
	out.Data.LeftOut = describe(report, leftOut)
	if out.Data.Letters, err = v.letters(ctx, in); err != nil {
		return Output{}, v.explain(ctx, in.Source, err)
	}
	out.Rows -= int64(len(leftOut))
	if out.Normalised = !report.Regular; out.Normalised {
		out.Data.Location = copyLocation(in, "normalised")
		err = v.normalise(ctx, file, report, leftOut, out.Data.Location)
	} else {
		out.Data.Location = copyLocation(in, "validated")
		err = v.Objects.Copy(ctx, in.Source, out.Data.Location, contentType)
	}
	if err != nil {
		return Output{}, v.explain(ctx, in.Source, err)
	}
	return out, nil
}

// contentType is the content type of the copies.
const contentType = "text/csv; charset=utf-8"

func checkInput(in Input) error {
	if err := in.Source.Check(); err != nil {
		return err
	}
	if strings.HasSuffix(in.Source.Key, "/") {
		return csvimport.Fail(statemachine.CSVKeyIsDirectory,
			"%s is a directory key, not a file: upload a CSV file under it", in.Source)
	}
	return nil
}

func outputOf(source csvimport.Source, report csvfile.Report) Output {
	out := Output{
		Valid:        report.Rows == 0 || report.BadRows < report.Rows,
		Rows:         report.Rows,
		Encoding:     report.Encoding,
		Delimiter:    report.Delimiter.String(),
		Data:         csvimport.Data{Location: csvimport.Location{Bucket: source.Bucket, Key: source.Key}},
		ProblemCount: report.Count,
		ProblemRows:  report.BadRows,
		Problems:     report.Problems,
	}
	if out.Problems == nil {
		out.Problems = []csvimport.Problem{}
	}
	if !out.Valid {
		first := report.Problems[0]
		out.Reason = fmt.Sprintf("none of the %d rows can be imported; the first problem is in line %d: %s", out.Rows,
			first.Line, csvimport.JoinProblems(report.Problems[:1]))
	}
	return out
}

// check reads the file once. If it begins like UTF-8 and a later byte is not, check reads it again as Shift_JIS; the
// second reading decides by the whole file whether it is that, or UTF-8 that is damaged or cut off.
func (v *Validator) check(ctx context.Context, file upload) (csvfile.Report, error) {
	report, err := v.pass(ctx, file, "")
	var f *csvimport.Failure
	if !errors.As(err, &f) || f.Name != statemachine.CSVEncodingUnsupported || report.Encoding != csvfile.UTF8 {
		return report, err
	}
	return v.pass(ctx, file, csvfile.ShiftJIS)
}

func (v *Validator) pass(ctx context.Context, file upload, assume csvfile.Encoding) (csvfile.Report, error) {
	body, err := v.open(ctx, file)
	if err != nil {
		return csvfile.Report{}, err
	}
	defer body.Close()
	r, err := csvfile.NewReader(body, assume)
	if err != nil {
		return csvfile.Report{}, err
	}
	return csvfile.Check(r)
}
