package itemreader

import (
	"context"
	"io"
	"time"
)

// Objects is the part of an object store that the reader needs. Implementations return errors with messages that name
// bucket and key; the reader uses them as the cause of States.ItemReaderFailed.
type Objects interface {
	// Get opens an object for reading and returns its size in bytes (-1 if unknown). versionID and expectedOwner may
	// be empty. The caller closes the body.
	Get(ctx context.Context, bucket, key, versionID, expectedOwner string) (body io.ReadCloser, size int64, err error)
	// List returns one page of the objects whose keys start with prefix, in key order, and the token of the next page
	// (empty after the last).
	List(ctx context.Context, bucket, prefix, token string) (page []ListedObject, next string, err error)
}

// Ranges must be implemented by an object store besides Objects to read Parquet, which is read from the end of the
// object.
type Ranges interface {
	// Stat returns the size of an object in bytes and its ETag. expectedOwner may be empty.
	Stat(ctx context.Context, bucket, key, expectedOwner string) (size int64, etag string, err error)
	// GetRange opens length bytes of an object, starting at offset. It fails if the object no longer has this ETag.
	// The caller closes the body.
	GetRange(ctx context.Context, bucket, key, expectedOwner, etag string, offset, length int64) (io.ReadCloser, error)
}

// Versions can be implemented by an object store to identify an object's content, for example by its ETag. A Map Run
// that is resumed uses it to detect whether its items have changed in between.
type Versions interface {
	Version(ctx context.Context, bucket, key, versionID, expectedOwner string) (string, error)
}

// ListedObject is one entry of a listing, as in ListObjectsV2.
type ListedObject struct {
	Key          string
	ETag         string // including its quotation marks, as S3 returns it
	Size         int64  // bytes
	StorageClass string // empty means STANDARD
	LastModified time.Time
}
