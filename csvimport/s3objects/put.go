package s3objects

import (
	"context"
	"io"

	"stepback/aws/objects"
	"stepback/csvimport"
)

// Put implements csvimport.Objects. S3 takes up to 5 GB in one request.
func (o *Objects) Put(ctx context.Context, at csvimport.Location, body io.ReadSeeker, size int64,
	contentType string) error {
	err := o.client.Put(ctx, objects.Put{
		Bucket: at.Bucket, Key: at.Key, Body: body, Size: size, ContentType: contentType,
	})
	if err != nil {
		return failure("write", at.String(), err)
	}
	return nil
}
