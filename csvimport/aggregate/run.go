package aggregate

import (
	"errors"
	"fmt"

	"stepback/csvimport"
	"stepback/csvimport/csvfile"
	"stepback/csvimport/spool"
	"stepback/statemachine"
)

// run is one aggregation in progress.
type run struct {
	aggregator *Aggregator
	in         Input
	tally      *tally
	unsettled  []letter // failed according to the results, not yet settled in the database
	settled    int64    // the number of those that were counted after all
	errors     map[string]int64
	child      string // ARN of the child execution whose results are being read

	batchErrors map[string]int64 // errors of rows that batches left to be processed one by one
	retried     map[string]int64 // rows that were retried, by error
	recovered   int64            // the number of those that were applied

	lettersFile, correctionsFile *spool.File
	corrections                  *csvfile.Corrections
	letters                      *jsonLines
}

func newRun(a *Aggregator, in Input) (*run, error) {
	r := &run{aggregator: a, in: in, tally: newTally(in.Rows), errors: map[string]int64{},
		batchErrors: map[string]int64{}, retried: map[string]int64{}}
	var err error
	if r.lettersFile, err = spool.Create("dead-letters"); err != nil {
		return nil, err
	}
	if r.correctionsFile, err = spool.Create("corrections"); err != nil {
		return nil, errors.Join(err, r.lettersFile.Close())
	}
	r.letters = newJSONLines(r.lettersFile)
	if in.Part.Count > 0 {
		r.corrections = csvfile.MoreCorrections(r.correctionsFile)
		return r, nil
	}
	if r.corrections, err = csvfile.NewCorrections(r.correctionsFile); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// close removes the temporary files.
func (r *run) close() {
	_ = r.lettersFile.Close()
	_ = r.correctionsFile.Close()
}

// count records the outcome of a row, and reports whether it is the row's first. Recording the same outcome twice
// is allowed; a different one is a mismatch.
func (r *run) count(row int64, outcome csvimport.Outcome) (bool, error) {
	if row < 0 || row >= r.in.Rows {
		return false, r.mismatch("a result is about row %d, but %s has rows 0 to %d", row, r.in.Source, r.in.Rows-1)
	}
	before := r.tally.outcome(row)
	if before == "" {
		r.tally.set(row, outcome)
		return true, nil
	}
	if before != outcome {
		return false, r.mismatch("row %d is both %s and %s", row, before, outcome)
	}
	return false, nil
}

// mismatch returns an AggregateMismatch that says where to look.
func (r *run) mismatch(format string, args ...any) error {
	return csvimport.Fail(statemachine.AggregateMismatch,
		"execution %s: %s; the result files are under s3://%s/%s, nothing was written",
		r.in.Execution, fmt.Sprintf(format, args...), r.in.Results.Bucket, r.in.Results.Prefix)
}
