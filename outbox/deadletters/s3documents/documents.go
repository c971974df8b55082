// Package s3documents stores the record of acts on dead letters in an S3 bucket. It uses conditional writes, so that
// several operators can work concurrently. It never deletes anything.
package s3documents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aws/smithy-go"

	"stepback/aws/objects"
	"stepback/outbox/deadletters"
)

// Documents implements deadletters.Documents under a prefix of a bucket.
type Documents struct {
	Store  objects.Store
	Bucket string
	Prefix string // empty or ends in a slash
}

// Get implements deadletters.Documents.
func (d *Documents) Get(ctx context.Context, name string) (text []byte, version string, err error) {
	o, err := d.Store.Get(ctx, objects.Get{Bucket: d.Bucket, Key: d.Prefix + name})
	if err != nil {
		if code(err) == "NoSuchKey" {
			return nil, "", nil
		}
		return nil, "", d.failure("read", name, err)
	}
	defer o.Body.Close()
	text, err = io.ReadAll(o.Body)
	if err != nil {
		return nil, "", d.failure("read", name, err)
	}
	return text, o.ETag, nil
}

// Put implements deadletters.Documents.
func (d *Documents) Put(ctx context.Context, name string, text []byte, version string) error {
	in := objects.Put{Bucket: d.Bucket, Key: d.Prefix + name, Body: bytes.NewReader(text), Size: int64(len(text)),
		ContentType: "application/json", IfMatch: version}
	if version == "" {
		in.IfNoneMatch = "*"
	}
	err := d.Store.Put(ctx, in)
	switch code(err) {
	case "PreconditionFailed", "ConditionalRequestConflict", "NoSuchKey":
		return deadletters.ErrConflict
	}
	return d.failure("write", name, err)
}

// Each implements deadletters.Documents.
func (d *Documents) Each(
	ctx context.Context, prefix string, visit func(name string, text []byte, version string) error,
) error {
	for list := (objects.List{Bucket: d.Bucket, Prefix: d.Prefix + prefix}); ; {
		page, err := d.Store.List(ctx, list)
		if err != nil {
			return d.failure("list", prefix, err)
		}
		for _, o := range page.Objects {
			name := strings.TrimPrefix(o.Key, d.Prefix)
			text, version, err := d.Get(ctx, name)
			if err != nil {
				return err
			}
			if err := visit(name, text, version); err != nil {
				return err
			}
		}
		if list.Token = page.Next; list.Token == "" {
			return nil
		}
	}
}

// code returns the S3 error code, or "" if the error has none.
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
