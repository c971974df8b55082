package validate

import (
	"context"

	"stepback/csvimport"
	"stepback/csvimport/csvfile"
	"stepback/statemachine"
)

// maxLetters is the maximum number of dead letters in a file. Each is a request to S3, and all of them together must
// fit into the step's timeout.
const maxLetters = 100_000

// pins is the prefix of pinned copies. It belongs to the record of acts on dead letters, which is never deleted.
const pins = "dead-letters/files"

// workBucket returns the bucket of copies and results.
func (in Input) workBucket() string {
	if in.WorkBucket == "" {
		return in.Source.Bucket
	}
	return in.WorkBucket
}

// pinned returns the pinned copy of a file with dead letters. Once letters are claimed for a file, another execution
// must be able to import the same rows, even if the upload was replaced or deleted in the meantime.
func (in Input) pinned() upload {
	in.WorkPrefix = pins
	return upload{source: in.Source, at: copyLocation(in, "pinned")}
}

// enlist claims the dead letters of a file's rows, and returns why rows are left out, by their numbers. Before that, it
// pins the file, and sets file to the copy.
func (v *Validator) enlist(ctx context.Context, in Input, file *upload, report csvfile.Report) (map[int64]string, error) {
	switch {
	case len(report.Letters) == 0:
		return nil, nil
	case v.Letters == nil:
		return nil, csvimport.Fail(statemachine.CSVHeaderInvalid,
			"the column letter cannot be used here, because this function has no access to the dead letters")
	case len(report.Letters) > maxLetters:
		return nil, csvimport.Fail(statemachine.CSVFileTooLarge,
			"%d rows came out of dead letters, the limit is %d: split the file", len(report.Letters), maxLetters)
	}
	if pinned := in.pinned(); *file != pinned {
		if err := v.Objects.Copy(ctx, in.Source, pinned.at, contentType); err != nil {
			return nil, err
		}
		*file = pinned
	}
	return v.Letters.Enlist(ctx, in.Source, in.workBucket(), report.Letters)
}

// letters returns the beginning of the IDs of the dead letters of the file's rows.
func (v *Validator) letters(ctx context.Context, in Input) (string, error) {
	if v.Letters == nil {
		return csvimport.Letters(in.Source), nil
	}
	return v.Letters.Of(ctx, in.Source, in.workBucket())
}

// describe returns the rows that are left out, for the report of the import.
func describe(report csvfile.Report, leftOut map[int64]string) *csvimport.LeftOut {
	if len(leftOut) == 0 {
		return nil
	}
	out := &csvimport.LeftOut{Count: int64(len(leftOut)), Rows: []csvimport.LeftOutRow{}}
	for _, row := range report.Letters {
		if why, ok := leftOut[row.Row]; ok && len(out.Rows) < csvimport.MaxLeftOutRows {
			out.Rows = append(out.Rows, csvimport.LeftOutRow{Line: row.Line, Letter: row.Letter, Why: why})
		}
	}
	return out
}
