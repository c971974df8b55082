package s3objects

import (
	"context"
	"errors"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"stepback/csvimport"
)

// Get implements csvimport.Objects.
func (o *Objects) Get(ctx context.Context, at csvimport.Location, etag string) (*csvimport.Object, error) {
	in := &s3.GetObjectInput{Bucket: aws.String(at.Bucket), Key: aws.String(at.Key)}
	if etag != "" {
		in.IfMatch = aws.String(`"` + csvimport.UnquoteETag(etag) + `"`)
	}
	out, err := o.client.GetObject(ctx, in)
	if err != nil {
		return nil, failure("read", at.String(), err)
	}
	found := csvimport.UnquoteETag(aws.ToString(out.ETag))
	if etag != "" && found != "" && found != csvimport.UnquoteETag(etag) { // a server that ignores If-Match
		_ = out.Body.Close()
		return nil, changed(at.String())
	}
	size := int64(-1)
	if out.ContentLength != nil {
		size = *out.ContentLength
	}
	return &csvimport.Object{
		Body:        &body{ReadCloser: out.Body, what: at.String()},
		Size:        size,
		ETag:        found,
		ContentType: aws.ToString(out.ContentType),
	}, nil
}

// body names the errors of a transfer that breaks off.
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
