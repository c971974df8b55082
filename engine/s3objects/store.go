// Package s3objects lets item readers and result writers of distributed Maps work on S3: it is their object store over
// the AWS SDK's client.
//
// It is thin: it makes no decision, keeps nothing, and leaves endpoints, credentials, path style and retries to the
// client it is given. Its only knowledge is how to word S3's errors so that the cause of a failed state names the
// object and what to do.
package s3objects

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"stepback/engine/itemreader"
	"stepback/engine/resultwriter"
)

// Client is what Store needs of *s3.Client.
type Client interface {
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
	HeadObject(context.Context, *s3.HeadObjectInput, ...func(*s3.Options)) (*s3.HeadObjectOutput, error)
	ListObjectsV2(context.Context, *s3.ListObjectsV2Input, ...func(*s3.Options)) (*s3.ListObjectsV2Output, error)
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

// Store reads and writes S3 objects. It may be used by several goroutines at once.
type Store struct{ client Client }

var (
	_ itemreader.Objects   = (*Store)(nil)
	_ itemreader.Ranges    = (*Store)(nil)
	_ resultwriter.Objects = (*Store)(nil)
)

// New returns a Store over the client.
func New(client Client) *Store { return &Store{client: client} }

// Get implements itemreader.Objects. The error is an *Error, or the context's.
func (s *Store) Get(ctx context.Context, bucket, key, versionID, expectedOwner string) (io.ReadCloser, int64, error) {
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{
		Bucket:              aws.String(bucket),
		Key:                 aws.String(key),
		VersionId:           optional(versionID),
		ExpectedBucketOwner: optional(expectedOwner),
	})
	if err != nil {
		return nil, 0, failure(ctx, "GetObject", bucket, key, err)
	}
	size := int64(-1)
	if out.ContentLength != nil {
		size = *out.ContentLength
	}
	return out.Body, size, nil
}

// Version returns the ETag of an object, by which a Map Run that is gone on with sees whether its items have changed.
// The error is an *Error, or the context's.
func (s *Store) Version(ctx context.Context, bucket, key, versionID, expectedOwner string) (string, error) {
	out, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{
		Bucket:              aws.String(bucket),
		Key:                 aws.String(key),
		VersionId:           optional(versionID),
		ExpectedBucketOwner: optional(expectedOwner),
	})
	if err != nil {
		return "", failure(ctx, "HeadObject", bucket, key, err)
	}
	return aws.ToString(out.ETag), nil
}

// Stat implements itemreader.Ranges. The error is an *Error, or the context's.
func (s *Store) Stat(ctx context.Context, bucket, key, expectedOwner string) (int64, string, error) {
	out, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{
		Bucket:              aws.String(bucket),
		Key:                 aws.String(key),
		ExpectedBucketOwner: optional(expectedOwner),
	})
	if err == nil {
		return aws.ToInt64(out.ContentLength), aws.ToString(out.ETag), nil
	}
	headed := failure(ctx, "HeadObject", bucket, key, err)
	// The answer to HEAD has no body that says what is missing; GET's has.
	body, _, err := s.Get(ctx, bucket, key, "", expectedOwner)
	if err == nil {
		_ = body.Close() // nothing of it is wanted
		return 0, "", headed
	}
	return 0, "", err
}

// GetRange implements itemreader.Ranges. The error is an *Error, or the context's.
func (s *Store) GetRange(ctx context.Context, bucket, key, expectedOwner, etag string, offset,
	length int64) (io.ReadCloser, error) {
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{
		Bucket:              aws.String(bucket),
		Key:                 aws.String(key),
		ExpectedBucketOwner: optional(expectedOwner),
		IfMatch:             optional(etag),
		Range:               aws.String(fmt.Sprintf("bytes=%d-%d", offset, offset+length-1)),
	})
	if err != nil {
		return nil, failure(ctx, "GetObject", bucket, key, err)
	}
	if out.ContentRange == nil {
		_ = out.Body.Close() // nothing of it is wanted
		return nil, failure(ctx, "GetObject", bucket, key,
			errors.New("the endpoint answered the whole object instead of the Range that was asked for"))
	}
	return out.Body, nil
}

// List implements itemreader.Objects: one page of up to 1,000 objects. The error is an *Error, or the context's.
func (s *Store) List(ctx context.Context, bucket, prefix, token string) ([]itemreader.ListedObject, string, error) {
	out, err := s.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{
		Bucket:            aws.String(bucket),
		Prefix:            optional(prefix),
		ContinuationToken: optional(token),
	})
	if err != nil {
		return nil, "", failure(ctx, "ListObjectsV2", bucket, prefix, err)
	}
	page := make([]itemreader.ListedObject, len(out.Contents))
	for i, o := range out.Contents {
		page[i] = itemreader.ListedObject{
			Key:          aws.ToString(o.Key),
			ETag:         aws.ToString(o.ETag),
			Size:         aws.ToInt64(o.Size),
			StorageClass: string(o.StorageClass),
			LastModified: aws.ToTime(o.LastModified),
		}
	}
	if !aws.ToBool(out.IsTruncated) {
		return page, "", nil
	}
	return page, aws.ToString(out.NextContinuationToken), nil
}

// Put implements resultwriter.Objects. The error is an *Error, or the context's.
func (s *Store) Put(ctx context.Context, bucket, key string, body io.ReadSeeker, size int64) error {
	_, err := s.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket:        aws.String(bucket),
		Key:           aws.String(key),
		Body:          body,
		ContentLength: aws.Int64(size),
		ContentType:   aws.String("application/json"),
	})
	if err != nil {
		return failure(ctx, "PutObject", bucket, key, err)
	}
	return nil
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
