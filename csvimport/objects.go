package csvimport

import (
	"context"
	"io"
	"time"
)

// Objects is S3 as the steps need it. Errors are *Failure: CSVFileNotFound for a missing object or bucket,
// CSVFileChanged for an ETag that no longer matches, AccessDenied, or one of the transient names.
type Objects interface {
	// Get opens an object for reading. With a non-empty etag it opens that version only, else CSVFileChanged.
	Get(ctx context.Context, at Location, etag string) (*Object, error)
	// Put writes size bytes of body, replacing what is there.
	Put(ctx context.Context, at Location, body io.ReadSeeker, size int64, contentType string) error
	// Copy has the service copy one version of an object, of at most MaxCopyBytes, without its metadata and tags,
	// replacing what is at to. Where the source's ETag is not the object's any more it copies nothing: CSVFileChanged.
	Copy(ctx context.Context, from Source, to Location, contentType string) error
	// List calls visit for each object under a prefix, in key order.
	List(ctx context.Context, bucket, prefix string, visit func(ObjectInfo) error) error
}

// MaxCopyBytes is the largest object that S3 copies in one request: 5 GiB.
const MaxCopyBytes = 5 << 30

// Object is an open object. The caller closes Body.
type Object struct {
	Body        io.ReadCloser
	Size        int64 // bytes; -1 when the service did not say
	ETag        string
	ContentType string
}

// ObjectInfo is an object as a listing shows it.
type ObjectInfo struct {
	Key          string
	Size         int64
	LastModified time.Time
}
