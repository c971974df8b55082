package validate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"stepback/csvimport"
	"stepback/statemachine"
)

// upload is an object with the content of a file: the uploaded object, or the pinned copy of it.
type upload struct {
	source csvimport.Source
	at     csvimport.Location
	etag   string // required; empty for a pinned copy, which has only one version
}

// file returns the uploaded object.
func (in Input) file() upload {
	return upload{in.Source, csvimport.Location{Bucket: in.Source.Bucket, Key: in.Source.Key}, in.Source.ETag}
}

// isGone reports whether an error says that an object does not exist or was replaced.
func isGone(err error) bool {
	var f *csvimport.Failure
	return errors.As(err, &f) && (f.Name == statemachine.CSVFileChanged || f.Name == statemachine.CSVFileNotFound)
}

// open opens the file. Before reading anything, it refuses objects that are not files or are too large.
func (v *Validator) open(ctx context.Context, file upload) (io.ReadCloser, error) {
	object, err := v.Objects.Get(ctx, file.at, file.etag)
	if err != nil {
		return nil, err
	}
	if err := v.checkObject(file, object); err != nil {
		_ = object.Body.Close()
		return nil, err
	}
	return &limitedBody{ReadCloser: object.Body, left: v.maxBytes(), source: file.source, limit: v.maxBytes()}, nil
}

func (v *Validator) maxBytes() int64 {
	if v.MaxBytes > 0 {
		return v.MaxBytes
	}
	return DefaultMaxBytes
}

func (v *Validator) checkObject(file upload, object *csvimport.Object) error {
	source := file.source
	switch {
	case file.etag != "" && object.ETag != "" && csvimport.UnquoteETag(object.ETag) != file.etag:
		return csvimport.Fail(statemachine.CSVFileChanged,
			"%s now has ETag %s, the event was for %s: the newer version starts an execution of its own", source,
			csvimport.UnquoteETag(object.ETag), source.ETag)
	case object.Size == 0 && isFolderMarker(source.Key, object.ContentType):
		return csvimport.Fail(statemachine.CSVKeyIsDirectory,
			"%s is a folder marker, not a file: upload a CSV file under it", source)
	case object.Size == 0:
		return csvimport.Fail(statemachine.CSVFileEmpty, "%s is empty (0 bytes): upload a file with a header and rows",
			source)
	case object.Size > v.maxBytes():
		return tooLarge(source, object.Size, v.maxBytes())
	case object.Size > v.partBytes():
		return &largeError{object.Size}
	}
	return nil
}

// largeError reports a file that is validated in ranges.
type largeError struct{ size int64 }

func (e *largeError) Error() string { return fmt.Sprintf("%d bytes are more than one part", e.size) }

func (v *Validator) partBytes() int64 {
	if v.PartBytes > 0 {
		return v.PartBytes
	}
	return statemachine.DefaultPartBytes
}

// isFolderMarker reports whether an object is an empty one that tools write to represent a directory.
func isFolderMarker(key, contentType string) bool {
	return strings.HasPrefix(contentType, "application/x-directory") || strings.HasSuffix(key, "_$folder$")
}

func tooLarge(source csvimport.Source, size, limit int64) error {
	return csvimport.Fail(statemachine.CSVFileTooLarge,
		"%s has %d bytes, the limit is %d: split the file, or raise the limit (--max-bytes of stepback run, "+
			"CSV_MAX_BYTES of the function)", source, size, limit)
}

// limitedBody enforces the size limit while the body is read, for an object whose size the service did not report.
type limitedBody struct {
	io.ReadCloser
	left, limit int64
	source      csvimport.Source
}

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		return 0, tooLarge(b.source, b.limit-b.left, b.limit)
	}
	return n, err
}

// explain adds the file's address to a failure. If the key is missing, it also adds whether the key is in fact a
// directory.
func (v *Validator) explain(ctx context.Context, source csvimport.Source, err error) error {
	var f *csvimport.Failure
	if err == nil || !errors.As(err, &f) {
		return err
	}
	if f.Name == statemachine.CSVFileNotFound && v.isDirectory(ctx, source) {
		return csvimport.Fail(statemachine.CSVKeyIsDirectory,
			"%s is a directory (there are objects under %s/), not a file: name one of them", source, source.Key)
	}
	if strings.Contains(f.Message, source.String()) {
		return err
	}
	return &csvimport.Failure{Name: f.Name, Message: source.String() + ": " + f.Message, Err: err}
}

// isDirectory reports whether objects exist below key/. It returns false if listing is not permitted.
func (v *Validator) isDirectory(ctx context.Context, source csvimport.Source) bool {
	found := errors.New("found")
	err := v.Objects.List(ctx, source.Bucket, source.Key+"/", func(csvimport.ObjectInfo) error { return found })
	return errors.Is(err, found)
}
