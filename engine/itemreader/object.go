package itemreader

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// location identifies one object.
type location struct {
	bucket, key, versionID, expectedOwner string
}

// String returns the location as in $$.Map.Item.Source.
func (l location) String() string { return "S3://" + l.bucket + "/" + l.key }

// text is an object opened for reading, decompressed if its name indicates compression.
type text struct {
	io.Reader
	closers []func() error
}

// openText opens an object. The size limit applies to the stored size and to the decompressed size.
func openText(ctx context.Context, objects Objects, at location) (*text, error) {
	body, size, err := objects.Get(ctx, at.bucket, at.key, at.versionID, at.expectedOwner)
	if err != nil {
		return nil, storeError(ctx, err)
	}
	t := &text{Reader: &interruptible{ctx: ctx, r: body}, closers: []func() error{body.Close}}
	if size > MaxObjectBytes {
		return nil, t.abandon(tooLarge(at.String()))
	}
	if err := t.decompress(at.key); err != nil {
		return nil, t.abandon(bodyError(ctx, at.String(), err))
	}
	t.Reader = &capped{r: t.Reader, left: MaxObjectBytes, where: at.String()}
	return t, nil
}

func (t *text) decompress(key string) error {
	switch {
	case strings.HasSuffix(key, ".gz"):
		z, err := gzip.NewReader(t.Reader)
		if err != nil {
			return fmt.Errorf("the name ends in .gz, but the content is not gzip: %w", err)
		}
		t.Reader = z
		t.closers = append(t.closers, z.Close)
	case strings.HasSuffix(key, ".zst"), strings.HasSuffix(key, ".zstd"):
		// Concurrency 1 decodes on the caller's goroutine.
		z, err := zstd.NewReader(t.Reader, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return err
		}
		t.Reader = z
		t.closers = append(t.closers, func() error { z.Close(); return nil })
	}
	return nil
}

// Close closes the decompressor, then the body.
func (t *text) Close() error {
	var first error
	for i := len(t.closers) - 1; i >= 0; i-- {
		if err := t.closers[i](); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// abandon closes a text that cannot be used and returns reason.
func (t *text) abandon(reason error) error {
	_ = t.Close() // reason is more helpful than an error of closing
	return reason
}

func tooLarge(where string) error {
	return failf("%s is larger than 10 GB (%d bytes), the largest object that a Map can read; split it and list the parts with "+
		"s3:listObjectsV2 and Transformation LOAD_AND_FLATTEN", where, int64(MaxObjectBytes))
}

// capped fails after more than left bytes.
type capped struct {
	r     io.Reader
	left  int64
	where string
}

func (c *capped) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.left -= int64(n); c.left < 0 {
		return 0, tooLarge(c.where)
	}
	return n, err
}

// interruptible stops reading when the context ends.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (i *interruptible) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.r.Read(p)
}
