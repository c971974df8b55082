package s3objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/aws/smithy-go"

	"stepback/aws/objects"
	"stepback/csvimport"
)

// Get implements csvimport.Objects.
func (o *Objects) Get(ctx context.Context, at csvimport.Location, etag string) (*csvimport.Object, error) {
	return o.get(ctx, at, etag, "")
}

// GetFrom implements csvimport.Objects.
func (o *Objects) GetFrom(ctx context.Context, at csvimport.Location, etag string, offset int64) (*csvimport.Object, error) {
	object, err := o.get(ctx, at, etag, fmt.Sprintf("bytes=%d-", offset))
	if pastEnd(err) {
		return &csvimport.Object{Body: http.NoBody, Size: offset, ETag: csvimport.UnquoteETag(etag)}, nil
	}
	return object, err
}

// pastEnd reports whether S3 refused a range because the object ends before it begins.
func pastEnd(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && api.ErrorCode() == "InvalidRange"
}

// get opens an object, or the range of it.
func (o *Objects) get(ctx context.Context, at csvimport.Location, etag, byteRange string) (*csvimport.Object, error) {
	in := objects.Get{Bucket: at.Bucket, Key: at.Key, Range: byteRange}
	if etag != "" {
		in.IfMatch = `"` + csvimport.UnquoteETag(etag) + `"`
	}
	out, err := o.client.Get(ctx, in)
	if err != nil {
		return nil, failure("read", at.String(), err)
	}
	found := csvimport.UnquoteETag(out.ETag)
	if etag != "" && found != "" && found != csvimport.UnquoteETag(etag) { // the server ignored If-Match
		_ = out.Body.Close()
		return nil, changed(at.String())
	}
	size := out.Size
	if byteRange != "" {
		size = sizeIn(out.ContentRange)
	}
	return &csvimport.Object{
		Body:        &body{ReadCloser: out.Body, what: at.String()},
		Size:        size,
		ETag:        found,
		ContentType: out.ContentType,
	}, nil
}

// sizeIn returns the size of an object from a Content-Range such as "bytes 0-99/1234", or -1.
func sizeIn(contentRange string) int64 {
	_, text, _ := strings.Cut(contentRange, "/")
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	return -1
}

// body converts the errors of an interrupted transfer to named ones.
type body struct {
	io.ReadCloser
	what string
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = failure("read", b.what, err)
	}
	return n, err
}
