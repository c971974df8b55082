// Package s3documents keeps the record of what people did to dead letters in a bucket of S3, by conditional writes, so
// that several people may work at once. It never deletes anything.
package s3documents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"stepback/deadletters"
)

// Documents are a deadletters.Documents under a prefix of a bucket.
type Documents struct {
	Client *s3.Client
	Bucket string
	Prefix string // ends in a slash, or is empty
}

// Get implements deadletters.Documents.
func (d *Documents) Get(ctx context.Context, name string) (text []byte, version string, err error) {
	out, err := d.Client.GetObject(ctx, &s3.GetObjectInput{Bucket: &d.Bucket, Key: d.key(name)})
	if err != nil {
		if code(err) == "NoSuchKey" {
			return nil, "", nil
		}
		return nil, "", d.failure("read", name, err)
	}
	defer out.Body.Close()
	text, err = io.ReadAll(out.Body)
	if err != nil {
		return nil, "", d.failure("read", name, err)
	}
	return text, aws.ToString(out.ETag), nil
}

// Put implements deadletters.Documents.
func (d *Documents) Put(ctx context.Context, name string, text []byte, version string) error {
	in := &s3.PutObjectInput{
		Bucket: &d.Bucket, Key: d.key(name), Body: bytes.NewReader(text), ContentLength: aws.Int64(int64(len(text))),
		ContentType: aws.String("application/json"),
	}
	if version == "" {
		in.IfNoneMatch = aws.String("*")
	} else {
		in.IfMatch = aws.String(version)
	}
	_, err := d.Client.PutObject(ctx, in)
	switch code(err) {
	case "":
		return d.failure("write", name, err)
	case "PreconditionFailed", "ConditionalRequestConflict", "NoSuchKey":
		return deadletters.ErrConflict
	}
	return d.failure("write", name, err)
}

// Each implements deadletters.Documents.
func (d *Documents) Each(
	ctx context.Context, prefix string, visit func(name string, text []byte, version string) error,
) error {
	pages := s3.NewListObjectsV2Paginator(d.Client, &s3.ListObjectsV2Input{Bucket: &d.Bucket, Prefix: d.key(prefix)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return d.failure("list", prefix, err)
		}
		for _, o := range page.Contents {
			name := strings.TrimPrefix(aws.ToString(o.Key), d.Prefix)
			text, version, err := d.Get(ctx, name)
			if err != nil {
				return err
			}
			if err := visit(name, text, version); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *Documents) key(name string) *string { return aws.String(d.Prefix + name) }

// code is the error code of S3; empty where S3 has not answered with one.
func code(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return ""
}

func (d *Documents) failure(doing, name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot %s the record s3://%s/%s%s: %w", doing, d.Bucket, d.Prefix, name, err)
}
