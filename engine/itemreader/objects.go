package itemreader

import (
	"context"
	"io"
	"time"
)

// Objects is what the reader needs of an object store. Implementations map the store's errors to messages that name
// bucket and key; the reader uses them as the cause of States.ItemReaderFailed.
type Objects interface {
	// Get opens an object for reading and reports its size in bytes (-1 when unknown). versionID and expectedOwner may
	// be empty. The caller closes the body.
	Get(ctx context.Context, bucket, key, versionID, expectedOwner string) (body io.ReadCloser, size int64, err error)
	// List returns one page of the objects whose keys start with prefix, in key order, and the token of the next page
	// (empty after the last).
	List(ctx context.Context, bucket, prefix, token string) (page []ListedObject, next string, err error)
}

// Ranges is what an object store must be able to do beside Objects to read Parquet, whose reading begins at the end of
// the object.
type Ranges interface {
	// Stat tells the size of an object in bytes and its ETag. expectedOwner may be empty.
	Stat(ctx context.Context, bucket, key, expectedOwner string) (size int64, etag string, err error)
	// GetRange opens length bytes of an object, from offset. It fails when the object is not the one with this ETag any
	// more. The caller closes the body.
	GetRange(ctx context.Context, bucket, key, expectedOwner, etag string, offset, length int64) (io.ReadCloser, error)
}

// Versions is what an object store may be able to tell beside the content of an object: what identifies it, such as its
// ETag. A Map Run that is gone on with uses it to see whether its items have changed in between.
type Versions interface {
	Version(ctx context.Context, bucket, key, versionID, expectedOwner string) (string, error)
}

// ListedObject is one entry of a listing, as ListObjectsV2 returns it.
type ListedObject struct {
	Key          string
	ETag         string // with its quotation marks, as S3 returns it
	Size         int64  // bytes
	StorageClass string // empty means STANDARD
	LastModified time.Time
}
