// Package objects is Amazon S3 for our own programs: the handful of operations on objects that they need, called by
// S3's model. It keeps nothing and words nothing: errors are those of aws/client in a *smithy.OperationError. Package
// sdkobjects has the SDK's typed client behind the same types, for programs that are functions of AWS Lambda.
package objects

import (
	"context"
	"io"
	"time"
)

// Get asks for an object, or for a part of it.
type Get struct {
	Bucket, Key string
	VersionID   string // empty: the newest
	Owner       string // the account that the bucket has to belong to; empty: any
	IfMatch     string // the ETag, in its quotes, that the object has to have; empty: any
	Range       string // bytes=0-99; empty: the whole object
}

// Object is an object, or a part of one, and what was said of it. The caller closes Body, which an answer to Head has
// not.
type Object struct {
	Body         io.ReadCloser
	Size         int64  // bytes of Body; -1 when the service did not say
	ETag         string // in its quotes
	ContentType  string
	ContentRange string // bytes 0-99/1234; empty for a whole object
	VersionID    string // empty where the bucket has no versions
}

// Put writes an object.
type Put struct {
	Bucket, Key string
	Body        io.ReadSeeker
	Size        int64
	ContentType string
	IfMatch     string // the ETag, in its quotes, of the object that is replaced; empty: any, or none
	IfNoneMatch string // *: only if there is no object; empty: in any case
}

// Copy copies an object within the service.
type Copy struct {
	FromBucket, FromKey string
	FromVersionID       string // empty: the newest
	IfMatch             string // the ETag, in its quotes, that the source has to have; empty: any
	Bucket, Key         string
	ContentType         string // replaces that of the source, with all its metadata; empty: they are copied
	WithoutTags         bool   // the source's tags are left behind
}

// List asks for a page of a listing.
type List struct {
	Bucket, Prefix string
	Token          string // of the page before; empty: the first
}

// Page is a page of a listing, in the order of keys.
type Page struct {
	Objects []Listed
	Next    string // token of the next page; empty: this is the last
}

// Listed is an object as a listing shows it.
type Listed struct {
	Key          string
	ETag         string
	Size         int64
	StorageClass string
	LastModified time.Time
}

// Store is what this package's client does, and what another has to do in its place. It is safe for concurrent use.
type Store interface {
	// Get opens an object.
	Get(context.Context, Get) (*Object, error)
	// Head tells what Get would, without the body.
	Head(context.Context, Get) (*Object, error)
	// Put writes an object.
	Put(context.Context, Put) error
	// Copy copies an object and returns the copy's ETag.
	Copy(context.Context, Copy) (etag string, err error)
	// Delete removes an object; one that is not there is removed already.
	Delete(ctx context.Context, bucket, key string) error
	// List returns a page of up to 1,000 objects.
	List(context.Context, List) (*Page, error)
}
