package s3objects

import (
	"context"
	"errors"
	"io"

	"stepback/aws/objects"
	"stepback/csvimport"
)

// Get implements csvimport.Objects.
func (o *Objects) Get(ctx context.Context, at csvimport.Location, etag string) (*csvimport.Object, error) {
	in := objects.Get{Bucket: at.Bucket, Key: at.Key}
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
	return &csvimport.Object{
		Body:        &body{ReadCloser: out.Body, what: at.String()},
		Size:        out.Size,
		ETag:        found,
		ContentType: out.ContentType,
	}, nil
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
