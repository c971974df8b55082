package s3objects

import (
	"context"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"stepback/csvimport"
)

// Put implements csvimport.Objects. S3 takes up to 5 GB in one request.
func (o *Objects) Put(ctx context.Context, at csvimport.Location, body io.ReadSeeker, size int64,
	contentType string) error {
	_, err := o.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket:        aws.String(at.Bucket),
		Key:           aws.String(at.Key),
		Body:          body,
		ContentLength: aws.Int64(size),
		ContentType:   aws.String(contentType),
	})
	if err != nil {
		return failure("write", at.String(), err)
	}
	return nil
}
