package objects

import (
	"context"
	"errors"
	"io"
	"strconv"

	"github.com/aws/smithy-go"

	"stepback/jsonvalue"
)

// Limits of multipart uploads.
const (
	MinPartBytes = 5 << 20 // of each part except the last
	MaxPartBytes = 5 << 30 // also the largest object that Put and Copy can write
	MaxParts     = 10_000
)

// Upload is a multipart upload in progress.
type Upload struct{ Bucket, Key, ID string }

// Part is a part of an upload. Exactly one of Body and FromKey is set.
type Part struct {
	Number int // 1 to MaxParts; the object consists of the parts in the order of their numbers
	Body   io.ReadSeeker
	Size   int64 // bytes of Body

	FromBucket, FromKey string // an object to copy from, within the service
	Range               string // bytes=0-99; empty: the whole object
}

// Uploads writes objects in parts.
type Uploads interface {
	// CreateUpload begins an upload. Only Bucket, Key and ContentType of the request are used.
	CreateUpload(context.Context, Put) (Upload, error)
	// UploadPart writes a part and returns its ETag.
	UploadPart(context.Context, Upload, Part) (etag string, err error)
	// CompleteUpload turns the parts 1 to len(etags) into the object and returns its ETag.
	CompleteUpload(ctx context.Context, u Upload, etags []string) (etag string, err error)
	// AbortUpload deletes the parts.
	AbortUpload(context.Context, Upload) error
}

// CreateUpload implements Store.
func (c *Client) CreateUpload(ctx context.Context, in Put) (Upload, error) {
	answer, err := c.call(ctx, "CreateMultipartUpload",
		fields("Bucket", in.Bucket, "Key", in.Key, "ContentType", in.ContentType), nil)
	if err != nil {
		return Upload{}, err
	}
	return Upload{in.Bucket, in.Key, text(answer.Output, "UploadId")}, nil
}

// UploadPart implements Store.
func (c *Client) UploadPart(ctx context.Context, u Upload, p Part) (string, error) {
	d := fields("Bucket", u.Bucket, "Key", u.Key, "UploadId", u.ID).With("PartNumber", jsonvalue.OfInt(int64(p.Number)))
	if p.FromKey != "" {
		d = d.With("CopySource", jsonvalue.OfString(CopySource(p.FromBucket, p.FromKey)))
		if p.Range != "" {
			d = d.With("CopySourceRange", jsonvalue.OfString(p.Range))
		}
		answer, err := c.call(ctx, "UploadPartCopy", d, nil)
		if err != nil {
			return "", err
		}
		result, _ := answer.Output.Get("CopyPartResult")
		return text(result, "ETag"), nil
	}
	answer, err := c.call(ctx, "UploadPart", d.With("ContentLength", jsonvalue.OfInt(p.Size)), p.Body)
	if err != nil {
		return "", err
	}
	return text(answer.Output, "ETag"), nil
}

// CompleteUpload implements Store.
func (c *Client) CompleteUpload(ctx context.Context, u Upload, etags []string) (string, error) {
	parts := make([]jsonvalue.Value, len(etags))
	for i, etag := range etags {
		parts[i] = fields("ETag", etag).With("PartNumber", jsonvalue.OfInt(int64(i)+1))
	}
	list := jsonvalue.NewObject(1)
	list.Set("Parts", jsonvalue.OfArray(parts))
	answer, err := c.call(ctx, "CompleteMultipartUpload",
		fields("Bucket", u.Bucket, "Key", u.Key, "UploadId", u.ID).With("MultipartUpload", list.Value()), nil)
	if err != nil {
		return "", err
	}
	etag := text(answer.Output, "ETag")
	if etag == "" { // S3 can report an error after the status 200 was sent
		return "", &smithy.OperationError{ServiceID: service().ID, OperationName: "CompleteMultipartUpload",
			Err: errors.New("upload " + strconv.Quote(u.ID) + " was not completed: the response has no ETag")}
	}
	return etag, nil
}

// AbortUpload implements Store.
func (c *Client) AbortUpload(ctx context.Context, u Upload) error {
	_, err := c.call(ctx, "AbortMultipartUpload", fields("Bucket", u.Bucket, "Key", u.Key, "UploadId", u.ID), nil)
	return err
}
