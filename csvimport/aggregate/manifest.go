package aggregate

import (
	"context"
	"errors"
	"strings"

	"stepback/csvimport"
	"stepback/csvimport/mapresults"
	"stepback/statemachine"
)

// resultFiles returns the Map's newest manifest. A Map that failed before it wrote a manifest has none; in that case
// every row is settled in the database.
func (a *Aggregator) resultFiles(ctx context.Context, in Input) (mapresults.Manifest, error) {
	m, ok, err := mapresults.Newest(ctx, a.Objects, in.Results.Bucket, in.Results.Prefix)
	if err != nil {
		return m, missingResult(in, err)
	}
	if !ok && in.MapError == nil && in.Rows != 0 {
		return m, csvimport.Fail(statemachine.AggregateMismatch,
			"execution %s: the Map reports success, but there is no manifest.json under s3://%s/%s/: check the Map's ResultWriter",
			in.Execution, in.Results.Bucket, strings.TrimSuffix(in.Results.Prefix, "/"))
	}
	return m, nil
}

// missingResult replaces the error for a missing object. The original error would say that the uploaded file is
// missing, but here a result file is.
func missingResult(in Input, err error) error {
	var f *csvimport.Failure
	if errors.As(err, &f) && f.Name == statemachine.CSVFileNotFound {
		return csvimport.Fail(statemachine.AggregateMismatch, "execution %s: a result file is missing: %w",
			in.Execution, err)
	}
	return err
}
