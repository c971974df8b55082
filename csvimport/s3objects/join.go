package s3objects

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"stepback/aws/objects"
	"stepback/csvimport"
)

const (
	// joinWorkers is the number of parts of an object that are written at a time.
	joinWorkers = 8
	// abortTime is the time for deleting the parts of an upload that failed.
	abortTime = 10 * time.Second
)

// stretch is a stretch of bytes of an object that is being joined: from memory, or from an object.
type stretch struct {
	head         []byte
	from         csvimport.Location
	offset, size int64
}

// Join implements csvimport.Objects. Stretches of objects that are at least as long as the smallest part of a multipart
// upload are copied within S3; shorter ones are collected in memory until they are a part.
func (o *Objects) Join(ctx context.Context, to csvimport.Location, head []byte, pieces []csvimport.Piece,
	contentType string) error {
	parts := partsOf(head, pieces)
	if len(parts) == 1 && !parts[0].copied() {
		content, err := o.gather(ctx, parts[0])
		if err != nil {
			return err
		}
		return o.Put(ctx, to, bytes.NewReader(content), int64(len(content)), contentType)
	}
	upload, err := o.client.CreateUpload(ctx, objects.Put{Bucket: to.Bucket, Key: to.Key, ContentType: contentType})
	if err != nil {
		return failure("write", to.String(), err)
	}
	etags := make([]string, len(parts))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(joinWorkers)
	for i, p := range parts {
		group.Go(func() (err error) {
			etags[i], err = o.uploadPart(within, upload, i+1, p)
			return err
		})
	}
	if err = group.Wait(); err == nil {
		if _, err = o.client.CompleteUpload(ctx, upload, etags); err != nil {
			err = failure("write", to.String(), err)
		}
	}
	if err != nil {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTime)
		defer cancel()
		_ = o.client.AbortUpload(limited,
			upload) // the error that led here counts; the bucket's lifecycle deletes the parts
	}
	return err
}

// joinPart consists of the stretches that become one part of an upload.
type joinPart []stretch

// copied reports whether the part is copied within S3.
func (p joinPart) copied() bool {
	return len(p) == 1 && p[0].head == nil && p[0].size >= objects.MinPartBytes
}

// partsOf divides an object into the parts of an upload, at least one. Each but the last has at least
// objects.MinPartBytes, and there are at most objects.MaxParts of them.
func partsOf(head []byte, pieces []csvimport.Piece) []joinPart {
	total := int64(len(head))
	for _, p := range pieces {
		total += p.Size
	}
	// A piece becomes at most two parts more than its share of the smallest ones: what completes the part before it,
	// and the copy.
	least := max(objects.MinPartBytes, total/(objects.MaxParts/2))
	var parts []joinPart
	var open joinPart
	var size int64 // of open
	add := func(s stretch) {
		open, size = append(open, s), size+s.size
		if size >= least {
			parts, open, size = append(parts, open), nil, 0
		}
	}
	if len(head) > 0 {
		add(stretch{head: head, size: int64(len(head))})
	}
	for _, p := range pieces {
		for offset := int64(0); offset < p.Size; {
			n := p.Size - offset
			switch {
			case size > 0:
				n = min(n, least-size)
			case n >= least:
				n = min(n, objects.MaxPartBytes)
			}
			add(stretch{from: p.Location, offset: offset, size: n})
			offset += n
		}
	}
	if len(open) > 0 || len(parts) == 0 {
		parts = append(parts, open)
	}
	return parts
}

// uploadPart writes a part of an upload and returns its ETag.
func (o *Objects) uploadPart(ctx context.Context, u objects.Upload, number int, p joinPart) (string, error) {
	part := objects.Part{Number: number}
	from := csvimport.Location{Bucket: u.Bucket, Key: u.Key}.String()
	if p.copied() {
		s := p[0]
		part.FromBucket, part.FromKey = s.from.Bucket, s.from.Key
		part.Range = fmt.Sprintf("bytes=%d-%d", s.offset, s.offset+s.size-1)
		from = s.from.String()
	} else {
		content, err := o.gather(ctx, p)
		if err != nil {
			return "", err
		}
		part.Body, part.Size = bytes.NewReader(content), int64(len(content))
	}
	etag, err := o.client.UploadPart(ctx, u, part)
	if err != nil {
		return "", failure("copy", from, err)
	}
	return etag, nil
}

// gather reads the stretches of a part.
func (o *Objects) gather(ctx context.Context, p joinPart) ([]byte, error) {
	var content bytes.Buffer
	for _, s := range p {
		if s.head != nil {
			content.Write(s.head)
			continue
		}
		object, err := o.GetFrom(ctx, s.from, "", s.offset)
		if err != nil {
			return nil, err
		}
		n, err := io.CopyN(&content, object.Body, s.size)
		_ = object.Body.Close() // the rest of it is not needed
		if err != nil {
			return nil, failure("read", s.from.String(), fmt.Errorf("%d of %d bytes from %d on: %w", n, s.size, s.offset, err))
		}
	}
	return content.Bytes(), nil
}
