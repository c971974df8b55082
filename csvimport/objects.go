package csvimport

import (
	"context"
	"io"
	"time"
)

// Objects is the part of S3 that the steps need. Errors are *Failure: CSVFileNotFound for a missing object or bucket,
// CSVFileChanged for an ETag that no longer matches, AccessDenied, or one of the transient names.
type Objects interface {
	// Get opens an object for reading. If etag is not empty and the object has another ETag, it fails with
	// CSVFileChanged.
	Get(ctx context.Context, at Location, etag string) (*Object, error)
	// GetFrom is like Get, with a Body that begins at an offset, at most the object's size. Size is that of the whole
	// object, or -1.
	GetFrom(ctx context.Context, at Location, etag string, offset int64) (*Object, error)
	// Put writes size bytes of body, replacing an existing object.
	Put(ctx context.Context, at Location, body io.ReadSeeker, size int64, contentType string) error
	// Copy copies one version of an object of at most MaxCopyBytes within S3, without its metadata and tags,
	// replacing the object at to. If the object no longer has the ETag in from, it copies nothing and fails with
	// CSVFileChanged.
	Copy(ctx context.Context, from Source, to Location, contentType string) error
	// Join writes an object with the content of head, followed by that of pieces, replacing an existing object. It
	// holds at most 64 MiB of it in memory.
	Join(ctx context.Context, to Location, head []byte, pieces []Piece, contentType string) error
	// Head describes an object; its LastModified is zero.
	Head(ctx context.Context, at Location) (ObjectInfo, error)
	// List calls visit for each object under a prefix, in key order.
	List(ctx context.Context, bucket, prefix string, visit func(ObjectInfo) error) error
}

// MaxCopyBytes is the largest object that S3 copies in one request: 5 GiB.
const MaxCopyBytes = 5 << 30

// Piece is an object whose content becomes a part of another object.
type Piece struct {
	Location
	Size int64 `json:"size"` // in bytes
}

// Object is an open object. The caller closes Body.
type Object struct {
	Body        io.ReadCloser
	Size        int64 // in bytes; -1 if unknown
	ETag        string
	ContentType string
}

// ObjectInfo describes an object without its content.
type ObjectInfo struct {
	Key          string
	ETag         string // without quotes
	Size         int64  // in bytes
	LastModified time.Time
}
