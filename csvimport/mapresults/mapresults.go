// Package mapresults reads the files that the ResultWriter of a distributed Map writes.
//
// It reads them as streams, one child execution at a time, and keeps nothing.
package mapresults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"stepback/csvimport"
	"stepback/statemachine"
)

// Manifest is the ResultWriter's manifest.json.
type Manifest struct {
	DestinationBucket string // never empty
	MapRunArn         string
	ResultFiles       struct {
		FAILED, PENDING, SUCCEEDED []File
	}
}

// File is a file of results, in the manifest's bucket.
type File struct {
	Key  string
	Size int64
}

// Newest returns the newest manifest under a prefix. A Map that was retried or redriven has written several, and the
// newest lists every success. ok is false if there is none, because the Map failed before it wrote one.
func Newest(ctx context.Context, objects csvimport.Objects, bucket, prefix string) (m Manifest, ok bool, err error) {
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	var newest csvimport.ObjectInfo
	err = objects.List(ctx, bucket, prefix, func(o csvimport.ObjectInfo) error {
		if strings.HasSuffix(o.Key, "/manifest.json") &&
			(newest.Key == "" || o.LastModified.After(newest.LastModified)) {
			newest = o
		}
		return nil
	})
	if err != nil || newest.Key == "" {
		return m, false, err
	}
	at := csvimport.Location{Bucket: bucket, Key: newest.Key}
	object, err := objects.Get(ctx, at, "")
	if err != nil {
		return m, false, err
	}
	defer object.Body.Close()
	if err := json.NewDecoder(object.Body).Decode(&m); err != nil {
		return m, false, Unreadable(at, err)
	}
	if m.DestinationBucket == "" {
		m.DestinationBucket = bucket
	}
	return m, true, nil
}

// Each opens a file of results and calls read at each element of its array; read decodes the element. An error of read
// that is no csvimport.Failure means that the file is not what a ResultWriter writes.
func Each(ctx context.Context, objects csvimport.Objects, at csvimport.Location,
	read func(context.Context, *json.Decoder) error) error {
	object, err := objects.Get(ctx, at, "")
	if err != nil {
		return err
	}
	defer object.Body.Close()
	decoder := json.NewDecoder(object.Body)
	if err := expect(decoder, '['); err != nil {
		return Unreadable(at, err)
	}
	for decoder.More() {
		if err := read(ctx, decoder); err != nil {
			return Unreadable(at, err)
		}
	}
	if err := expect(decoder, ']'); err != nil {
		return Unreadable(at, err)
	}
	return nil
}

func expect(decoder *json.Decoder, delim json.Delim) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	if token != delim {
		return fmt.Errorf("byte %d: expected %v, found %v", decoder.InputOffset(), delim, token)
	}
	return nil
}

// Unreadable returns the error for a result file that cannot be read. It distinguishes invalid content from an
// interrupted transfer.
func Unreadable(at csvimport.Location, err error) error {
	var f *csvimport.Failure
	if errors.As(err, &f) {
		return err
	}
	return csvimport.Fail(statemachine.AggregateMismatch, "%s is not what the Map's ResultWriter writes: %w", at, err)
}
