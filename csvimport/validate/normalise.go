package validate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"stepback/csvimport"
	"stepback/csvimport/csvfile"
	"stepback/csvimport/spool"
	"stepback/statemachine"
)

// copyLocation returns the location for a copy of a file. It is always the same for the same version of a file, so
// that a repeated step overwrites its own copy and nothing else. kind is the prefix of the object's name.
func copyLocation(in Input, kind string) csvimport.Location {
	bucket := in.WorkBucket
	if bucket == "" {
		bucket = in.Source.Bucket
	}
	sum := sha256.Sum256([]byte(in.Source.Bucket + "\x00" + in.Source.Key + "\x00" + in.Source.ETag))
	return csvimport.Location{Bucket: bucket, Key: csvimport.JoinKey(in.WorkPrefix,
		kind+"-"+hex.EncodeToString(sum[:12])+".csv")}
}

// normalise reads the file a second time and writes its normalised copy.
func (v *Validator) normalise(ctx context.Context, source csvimport.Source, report csvfile.Report,
	to csvimport.Location) error {
	body, err := v.open(ctx, source)
	if err != nil {
		return err
	}
	defer body.Close()
	r, err := csvfile.NewReader(body, report.Encoding)
	if err != nil {
		return err
	}
	file, err := spool.Create("normalised")
	if err != nil {
		return err
	}
	defer file.Close()
	rows, err := csvfile.Normalise(r, file)
	if err != nil {
		return err
	}
	if rows != report.Rows {
		return csvimport.Fail(statemachine.CSVFileChanged,
			"%s had %d rows when it was checked and %d when it was copied", source, report.Rows, rows)
	}
	return file.Put(ctx, v.Objects, to, contentType)
}
