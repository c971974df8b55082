package aggregate

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"stepback/csvimport"
	"stepback/statemachine"
)

// manifest is the ResultWriter's manifest.json.
type manifest struct {
	DestinationBucket string
	MapRunArn         string
	ResultFiles       struct {
		FAILED, PENDING, SUCCEEDED []resultFile
	}
}

type resultFile struct {
	Key  string
	Size int64
}

// resultFiles finds the newest manifest under the prefix. A Map that was retried or redriven has written several,
// and the newest lists every success. A Map that failed before it wrote a manifest has none; in that case every row
// is settled in the database.
func (a *Aggregator) resultFiles(ctx context.Context, in Input) (manifest, error) {
	prefix := in.Results.Prefix
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	var newest csvimport.ObjectInfo
	err := a.Objects.List(ctx, in.Results.Bucket, prefix, func(o csvimport.ObjectInfo) error {
		if strings.HasSuffix(o.Key, "/manifest.json") &&
			(newest.Key == "" || o.LastModified.After(newest.LastModified)) {
			newest = o
		}
		return nil
	})
	if err != nil {
		return manifest{}, missingResult(in, err)
	}
	if newest.Key == "" {
		if in.MapError != nil || in.Rows == 0 {
			return manifest{}, nil
		}
		return manifest{}, csvimport.Fail(statemachine.AggregateMismatch,
			"execution %s: the Map reports success, but there is no manifest.json under s3://%s/%s: check the Map's ResultWriter", in.Execution, in.Results.Bucket, prefix)
	}
	return a.readManifest(ctx, in, newest.Key)
}

func (a *Aggregator) readManifest(ctx context.Context, in Input, key string) (manifest, error) {
	at := csvimport.Location{Bucket: in.Results.Bucket, Key: key}
	object, err := a.Objects.Get(ctx, at, "")
	if err != nil {
		return manifest{}, missingResult(in, err)
	}
	defer object.Body.Close()
	var m manifest
	if err := json.NewDecoder(object.Body).Decode(&m); err != nil {
		return manifest{}, unreadable(at, err)
	}
	if m.DestinationBucket == "" {
		m.DestinationBucket = in.Results.Bucket
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

// unreadable returns the error for a result file that cannot be read. It distinguishes invalid content from an
// interrupted transfer.
func unreadable(at csvimport.Location, err error) error {
	var f *csvimport.Failure
	if errors.As(err, &f) {
		return err
	}
	return csvimport.Fail(statemachine.AggregateMismatch, "%s is not what the Map's ResultWriter writes: %w", at, err)
}
