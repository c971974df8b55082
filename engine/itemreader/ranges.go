package itemreader

import (
	"context"
	"io"
)

// ranged is an object that is read in ranges.
type ranged struct {
	ctx    context.Context
	ranges Ranges
	at     location
	size   int64
	etag   string
}

// openRanged determines the size of an object. It refuses objects larger than 10 GB.
func openRanged(ctx context.Context, objects Objects, at location) (*ranged, error) {
	ranges, ok := objects.(Ranges)
	if !ok {
		return nil, failf("the object store cannot read parts of an object, which InputType PARQUET needs")
	}
	size, etag, err := ranges.Stat(ctx, at.bucket, at.key, at.expectedOwner)
	if err != nil {
		return nil, storeError(ctx, err)
	}
	if size > MaxObjectBytes {
		return nil, tooLarge(at.String())
	}
	return &ranged{ctx: ctx, ranges: ranges, at: at, size: size, etag: etag}, nil
}

// ReadAt implements io.ReaderAt.
func (r *ranged) ReadAt(p []byte, offset int64) (int, error) {
	if offset < 0 || offset >= r.size {
		return 0, io.EOF
	}
	n := min(int64(len(p)), r.size-offset)
	if n == 0 {
		return 0, nil
	}
	body, err := r.ranges.GetRange(r.ctx, r.at.bucket, r.at.key, r.at.expectedOwner, r.etag, offset, n)
	if err != nil {
		return 0, storeError(r.ctx, err)
	}
	defer body.Close() // it has been read
	read, err := io.ReadFull(body, p[:n])
	if err == nil && n < int64(len(p)) {
		err = io.EOF
	}
	return read, err
}
