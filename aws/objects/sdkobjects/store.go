// Package sdkobjects implements objects.Store with the SDK's typed client of S3, which also verifies the checksums
// of downloads. It is for functions on AWS Lambda. The client determines endpoints, credentials, path style and
// retries. A body whose connection breaks is read on by range (package rangedbody); S3 sends no checksum for the rest,
// so only the ETag guarantees that it belongs to the same object.
package sdkobjects

import (
	"context"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"stepback/aws/objects"
	"stepback/aws/rangedbody"
)

// Store implements objects.Store with the typed client.
type Store struct{ client *s3.Client }

var _ objects.Store = (*Store)(nil)

// New returns a Store over the client.
func New(client *s3.Client) *Store { return &Store{client} }

// Get implements objects.Store.
func (s *Store) Get(ctx context.Context, in objects.Get) (*objects.Object, error) {
	o, err := s.get(ctx, in)
	if err != nil {
		return nil, err
	}
	o.Body = rangedbody.New(ctx, partOf(o), func(ctx context.Context, byteRange, etag string) (*rangedbody.Part,
		error) {
		in.Range, in.IfMatch = byteRange, etag
		o, err := s.get(ctx, in)
		if err != nil {
			return nil, err
		}
		return partOf(o), nil
	})
	return o, nil
}

func partOf(o *objects.Object) *rangedbody.Part {
	return &rangedbody.Part{Body: o.Body, Size: o.Size, ETag: o.ETag, ContentRange: o.ContentRange}
}

// get is Get without reading on.
func (s *Store) get(ctx context.Context, in objects.Get) (*objects.Object, error) {
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{
		Bucket: &in.Bucket, Key: &in.Key, VersionId: optional(in.VersionID), ExpectedBucketOwner: optional(in.Owner),
		IfMatch: optional(in.IfMatch), Range: optional(in.Range),
	})
	if err != nil {
		return nil, err
	}
	return &objects.Object{Body: out.Body, Size: size(out.ContentLength), ETag: aws.ToString(out.ETag),
		ContentType: aws.ToString(out.ContentType), ContentRange: aws.ToString(out.ContentRange),
		VersionID: aws.ToString(out.VersionId)}, nil
}

// Head implements objects.Store.
func (s *Store) Head(ctx context.Context, in objects.Get) (*objects.Object, error) {
	out, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{
		Bucket: &in.Bucket, Key: &in.Key, VersionId: optional(in.VersionID), ExpectedBucketOwner: optional(in.Owner),
		IfMatch: optional(in.IfMatch), Range: optional(in.Range),
	})
	if err != nil {
		return nil, err
	}
	return &objects.Object{Size: size(out.ContentLength), ETag: aws.ToString(out.ETag),
		ContentType: aws.ToString(out.ContentType), VersionID: aws.ToString(out.VersionId)}, nil
}

// Put implements objects.Store.
func (s *Store) Put(ctx context.Context, in objects.Put) error {
	_, err := s.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &in.Bucket, Key: &in.Key, Body: in.Body, ContentLength: &in.Size, ContentType: optional(in.ContentType),
		IfMatch: optional(in.IfMatch), IfNoneMatch: optional(in.IfNoneMatch),
	})
	return err
}

// Copy implements objects.Store.
func (s *Store) Copy(ctx context.Context, in objects.Copy) (string, error) {
	source := objects.CopySource(in.FromBucket, in.FromKey)
	if in.FromVersionID != "" {
		source += "?versionId=" + url.QueryEscape(in.FromVersionID)
	}
	request := &s3.CopyObjectInput{Bucket: &in.Bucket, Key: &in.Key, CopySource: &source,
		CopySourceIfMatch: optional(in.IfMatch)}
	if in.ContentType != "" {
		request.ContentType, request.MetadataDirective = &in.ContentType, types.MetadataDirectiveReplace
	}
	if in.WithoutTags {
		request.TaggingDirective = types.TaggingDirectiveReplace
	}
	out, err := s.client.CopyObject(ctx, request)
	if err != nil || out.CopyObjectResult == nil {
		return "", err
	}
	return aws.ToString(out.CopyObjectResult.ETag), nil
}

// Delete implements objects.Store.
func (s *Store) Delete(ctx context.Context, bucket, key string) error {
	_, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &bucket, Key: &key})
	return err
}

// List implements objects.Store.
func (s *Store) List(ctx context.Context, in objects.List) (*objects.Page, error) {
	out, err := s.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{
		Bucket: &in.Bucket, Prefix: optional(in.Prefix), ContinuationToken: optional(in.Token),
		EncodingType: objects.URLEncoding,
	})
	if err != nil {
		return nil, err
	}
	page := &objects.Page{Objects: make([]objects.Listed, len(out.Contents))}
	for i, o := range out.Contents {
		key, err := objects.DecodedKey(aws.ToString(o.Key), string(out.EncodingType))
		if err != nil {
			return nil, err
		}
		page.Objects[i] = objects.Listed{Key: key, ETag: aws.ToString(o.ETag),
			Size:         aws.ToInt64(o.Size),
			StorageClass: string(o.StorageClass), LastModified: aws.ToTime(o.LastModified)}
	}
	if aws.ToBool(out.IsTruncated) {
		page.Next = aws.ToString(out.NextContinuationToken)
	}
	return page, nil
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func size(n *int64) int64 {
	if n == nil {
		return -1
	}
	return *n
}
