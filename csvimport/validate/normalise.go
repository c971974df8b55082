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
	sum := sha256.Sum256([]byte(in.Source.Bucket + "\x00" + in.Source.Key + "\x00" + in.Source.ETag))
	return csvimport.Location{Bucket: in.workBucket(), Key: csvimport.JoinKey(in.WorkPrefix,
		kind+"-"+hex.EncodeToString(sum[:12])+".csv")}
}

// normalise reads the file a second time and writes its normalised copy.
// It leaves out the rows with the numbers in leftOut.
func (v *Validator) normalise(ctx context.Context, from upload, report csvfile.Report,
	leftOut map[int64]string, to csvimport.Location) error {
	body, err := v.open(ctx, from)
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
	rows, err := csvfile.Normalise(r, file, func(row int64) bool {
		_, out := leftOut[row]
		return out
	})
	if err != nil {
		return err
	}
	if rows != report.Rows {
		return csvimport.Fail(statemachine.CSVFileChanged,
			"%s had %d rows when it was checked and %d when it was copied", from.source, report.Rows, rows)
	}
	return file.Put(ctx, v.Objects, to, contentType)
}
