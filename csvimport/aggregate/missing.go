package aggregate

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"stepback/csvimport"
	"stepback/csvimport/csvfile"
	"stepback/csvimport/mapresults"
)

// settleMissing accounts for the rows that no result names, by reading the Map's data again. If there are no such
// rows, it reads nothing.
func (r *run) settleMissing(ctx context.Context) error {
	if r.tally.count("") == 0 {
		return nil
	}
	object, err := r.aggregator.Objects.Get(ctx, r.in.Data.Location, r.dataETag())
	if err != nil {
		return missingResult(r.in, err)
	}
	defer object.Body.Close()
	items, err := csvfile.NewItems(object.Body)
	if err != nil {
		return mapresults.Unreadable(r.in.Data.Location, err)
	}
	var rows int64
	for {
		record, err := items.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return mapresults.Unreadable(r.in.Data.Location, err)
		}
		if rows < r.in.Rows && r.tally.outcome(rows) == "" {
			if err := r.notProcessed(ctx, rows, record); err != nil {
				return err
			}
		}
		rows++
	}
	if rows != r.in.Rows {
		return r.mismatch("%s has %d rows, but the file was validated with %d", r.in.Data.Location, rows, r.in.Rows)
	}
	return r.settle(ctx)
}

// dataETag returns the ETag of the uploaded file, so that exactly this version is read. It returns "" if the data
// is a normalised copy, which has only one version.
func (r *run) dataETag() string {
	if r.in.Data.Location == (csvimport.Location{Bucket: r.in.Source.Bucket, Key: r.in.Source.Key}) {
		return r.in.Source.ETag
	}
	return ""
}

func (r *run) notProcessed(ctx context.Context, row int64, record csvimport.Record) error {
	payload, err := json.Marshal(record)
	if err != nil {
		return err
	}
	l := letter{Reason: reasonNotProcessed, Error: reasonNotProcessed, Cause: "no result of the Map names this row",
		Row: row, Payload: payload, outcome: csvimport.DeadLettered}
	if r.in.MapError != nil {
		l.Cause += "; the Map failed: " + r.in.MapError.Error
	}
	return r.notApplied(ctx, l)
}
