// Package objects is a client of Amazon S3 for our own programs. It has only the few object operations that they
// need, and calls them by S3's model. It stores nothing and does not reword errors; they are the errors of
// aws/client in a *smithy.OperationError. Package sdkobjects implements the same types with the SDK's typed client,
// for programs that run as AWS Lambda functions.
package objects

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"time"
)

// Get is a request for an object, or for a part of it.
type Get struct {
	Bucket, Key string
	VersionID   string // empty: the newest
	Owner       string // required account of the bucket's owner; empty: any
	IfMatch     string // required ETag of the object, with quotes; empty: any
	Range       string // bytes=0-99; empty: the whole object
}

// Object is an object, or a part of one, with its metadata. The caller must close Body. Body is nil in the result
// of Head.
type Object struct {
	Body         io.ReadCloser
	Size         int64  // bytes of Body; -1 if unknown
	ETag         string // with quotes
	ContentType  string
	ContentRange string // bytes 0-99/1234; empty for a whole object
	VersionID    string // empty if the bucket has no versions
}

// Put is a request to write an object.
type Put struct {
	Bucket, Key string
	Body        io.ReadSeeker
	Size        int64
	ContentType string
	IfMatch     string // required ETag of the replaced object, with quotes; empty: any, or no object
	IfNoneMatch string // *: only if no object exists; empty: always
}

// Copy is a request to copy an object within the service.
type Copy struct {
	FromBucket, FromKey string
	FromVersionID       string // empty: the newest
	IfMatch             string // required ETag of the source, with quotes; empty: any
	Bucket, Key         string
	ContentType         string // replaces the source's, with all its metadata; empty: they are copied
	WithoutTags         bool   // the source's tags are not copied
}

// List is a request for a page of a listing.
type List struct {
	Bucket, Prefix string
	Token          string // from the previous page; empty: the first page
}

// Page is a page of a listing, in the order of keys.
type Page struct {
	Objects []Listed
	Next    string // token of the next page; empty: this is the last
}

// URLEncoding is the EncodingType with which listings are requested. XML cannot represent the control characters that
// keys may contain: without it, one such key would make the whole listing unreadable.
const URLEncoding = "url"

// DecodedKey returns the key that a listing with an EncodingType contains. Stores that do not know URLEncoding send
// listings without an EncodingType.
func DecodedKey(key, encoding string) (string, error) {
	if encoding != URLEncoding {
		return key, nil
	}
	decoded, err := url.QueryUnescape(key) // S3 sends a space as + and a plus sign as %2B
	if err != nil {
		return "", fmt.Errorf("the listing has a key that is not URL encoded: %w", err)
	}
	return decoded, nil
}

// Listed is an object in a listing.
type Listed struct {
	Key          string
	ETag         string
	Size         int64
	StorageClass string
	LastModified time.Time
}

// Store is the interface of this package's client and of alternatives to it. It is safe for concurrent use.
type Store interface {
	// Get opens an object. If the connection of its body breaks, the rest is requested by range, under the condition
	// that the object has not changed; otherwise reading fails with a *rangedbody.ChangedError. ctx must last until the
	// body has been read.
	Get(context.Context, Get) (*Object, error)
	// Head returns the result of Get without the body.
	Head(context.Context, Get) (*Object, error)
	// Put writes an object.
	Put(context.Context, Put) error
	// Copy copies an object and returns the copy's ETag.
	Copy(context.Context, Copy) (etag string, err error)
	// Delete deletes an object; it succeeds if the object does not exist.
	Delete(ctx context.Context, bucket, key string) error
	// List returns a page of up to 1,000 objects.
	List(context.Context, List) (*Page, error)

	Uploads
}
