// Package s3objects lets the item readers and result writers of distributed Maps work on S3: it implements their
// object store on top of an S3 client, either objects.Client or the SDK's in sdkobjects.Store.
//
// It is thin: it makes no decision, stores nothing, and leaves endpoints, credentials, path style and retries to the
// client. It only knows how to word S3's errors so that the cause of a failed state names the object and what to do.
package s3objects

import (
	"context"
	"errors"
	"fmt"
	"io"

	"stepback/aws/objects"
	"stepback/engine/itemreader"
	"stepback/engine/resultwriter"
)

// Store reads and writes S3 objects. It may be used by several goroutines at once.
type Store struct{ client objects.Store }

var (
	_ itemreader.Objects   = (*Store)(nil)
	_ itemreader.Ranges    = (*Store)(nil)
	_ resultwriter.Objects = (*Store)(nil)
)

// New returns a Store over the client.
func New(client objects.Store) *Store { return &Store{client: client} }

// Get implements itemreader.Objects. The error is an *Error, or the context's.
func (s *Store) Get(ctx context.Context, bucket, key, versionID, expectedOwner string) (io.ReadCloser, int64, error) {
	out, err := s.client.Get(ctx, objects.Get{Bucket: bucket, Key: key, VersionID: versionID, Owner: expectedOwner})
	if err != nil {
		return nil, 0, failure(ctx, "GetObject", bucket, key, err)
	}
	return &body{out.Body, ctx, bucket, key}, out.Size, nil
}

// body converts the errors of an interrupted transfer to those of this package.
type body struct {
	io.ReadCloser
	ctx         context.Context //nolint:containedctx // of the request whose body this is
	bucket, key string
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = failure(b.ctx, "GetObject", b.bucket, b.key, err)
	}
	return n, err
}

// Version returns the ETag of an object, by which a resumed Map Run detects that its items have changed. The error is
// an *Error, or the context's.
func (s *Store) Version(ctx context.Context, bucket, key, versionID, expectedOwner string) (string, error) {
	out, err := s.client.Head(ctx, objects.Get{Bucket: bucket, Key: key, VersionID: versionID, Owner: expectedOwner})
	if err != nil {
		return "", failure(ctx, "HeadObject", bucket, key, err)
	}
	return out.ETag, nil
}

// Stat implements itemreader.Ranges. The error is an *Error, or the context's.
func (s *Store) Stat(ctx context.Context, bucket, key, expectedOwner string) (int64, string, error) {
	out, err := s.client.Head(ctx, objects.Get{Bucket: bucket, Key: key, Owner: expectedOwner})
	if err == nil {
		return max(out.Size, 0), out.ETag, nil
	}
	headed := failure(ctx, "HeadObject", bucket, key, err)
	// The response to HEAD has no body, so it does not say what is missing; the response to GET does.
	body, _, err := s.Get(ctx, bucket, key, "", expectedOwner)
	if err == nil {
		_ = body.Close() // its content is not needed
		return 0, "", headed
	}
	return 0, "", err
}

// GetRange implements itemreader.Ranges. The error is an *Error, or the context's.
func (s *Store) GetRange(ctx context.Context, bucket, key, expectedOwner, etag string, offset,
	length int64) (io.ReadCloser, error) {
	out, err := s.client.Get(ctx, objects.Get{
		Bucket: bucket, Key: key, Owner: expectedOwner, IfMatch: etag,
		Range: fmt.Sprintf("bytes=%d-%d", offset, offset+length-1),
	})
	if err != nil {
		return nil, failure(ctx, "GetObject", bucket, key, err)
	}
	if out.ContentRange == "" {
		_ = out.Body.Close() // its content is not needed
		return nil, failure(ctx, "GetObject", bucket, key,
			errors.New("the endpoint returned the whole object instead of the requested Range"))
	}
	return &body{out.Body, ctx, bucket, key}, nil
}

// List implements itemreader.Objects. It returns one page of up to 1,000 objects. The error is an *Error, or the
// context's.
func (s *Store) List(ctx context.Context, bucket, prefix, token string) ([]itemreader.ListedObject, string, error) {
	out, err := s.client.List(ctx, objects.List{Bucket: bucket, Prefix: prefix, Token: token})
	if err != nil {
		return nil, "", failure(ctx, "ListObjectsV2", bucket, prefix, err)
	}
	page := make([]itemreader.ListedObject, len(out.Objects))
	for i, o := range out.Objects {
		page[i] = itemreader.ListedObject{
			Key: o.Key, ETag: o.ETag, Size: o.Size, StorageClass: o.StorageClass, LastModified: o.LastModified,
		}
	}
	return page, out.Next, nil
}

// Put implements resultwriter.Objects. The error is an *Error, or the context's.
func (s *Store) Put(ctx context.Context, bucket, key string, body io.ReadSeeker, size int64) error {
	err := s.client.Put(ctx, objects.Put{
		Bucket: bucket, Key: key, Body: body, Size: size, ContentType: "application/json",
	})
	if err != nil {
		return failure(ctx, "PutObject", bucket, key, err)
	}
	return nil
}
