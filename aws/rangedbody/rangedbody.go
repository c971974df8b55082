// Package rangedbody reads the body of an S3 object to its end although its connection breaks: it requests the missing
// bytes by range, under the condition that the object still has the same ETag. The S3 clients of package client and
// package sdkobjects wrap the body of every GetObject in a Reader, so their callers see one uninterrupted body.
//
// Servers close connections whose client does not read for minutes, as a distributed Map does not while its children
// wait. Without this package the Map would fail with the items that it has not read.
package rangedbody

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/smithy-go"
)

var _ smithy.APIError = (*ChangedError)(nil)

// Part is a response to GetObject.
type Part struct {
	Body         io.ReadCloser
	Size         int64  // bytes of Body; -1 if unknown
	ETag         string // with quotes
	ContentRange string // bytes 0-99/1234; empty for a whole object
}

// Open requests bytes of the object. byteRange is the value of Range, and etag the one of If-Match.
type Open func(ctx context.Context, byteRange, etag string) (*Part, error)

// ChangedError is returned if the object was replaced while it was read. It is an API error with S3's code
// PreconditionFailed.
type ChangedError struct {
	Offset int64  // first byte that was not read
	ETag   string // of the object that was read, with quotes
}

// Error implements error.
func (e *ChangedError) Error() string { return e.ErrorCode() + ": " + e.ErrorMessage() }

// ErrorCode returns S3's error code for a failed If-Match.
func (e *ChangedError) ErrorCode() string { return "PreconditionFailed" }

// ErrorMessage describes the change.
func (e *ChangedError) ErrorMessage() string {
	return fmt.Sprintf("The object with the ETag %s was replaced after %d bytes of it had been read", e.ETag, e.Offset)
}

// ErrorFault reports that the client's condition failed, not the server.
func (e *ChangedError) ErrorFault() smithy.ErrorFault { return smithy.FaultClient }

// HTTPStatusCode returns S3's status for a failed If-Match.
func (e *ChangedError) HTTPStatusCode() int { return http.StatusPreconditionFailed }

// waits are the waits before the requests that follow a broken connection, as long as none of them yields a byte; the
// random wait is between half of it and the whole. They bridge 8 to 16 seconds without a server. Each byte that
// arrives starts the sequence again.
var waits = []time.Duration{0, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second,
	4 * time.Second, 8 * time.Second}

// Reader is the body of an object. It must not be used by several goroutines at once.
type Reader struct {
	ctx      context.Context //nolint:containedctx // of the request whose body this is
	open     Open
	body     io.ReadCloser // nil after a break
	etag     string
	at, end  int64 // offsets in the object: of the next byte, and behind the last one; end is -1 if unknown
	failures int   // requests since the last byte
	err      error // why reading cannot continue
	broken   error // the latest break
}

// New returns a reader of first.Body that continues with open after a break. ctx limits the requests and the waits
// between them. If the response has no ETag, its body is returned unchanged: what follows a break could be from another
// version of the object.
func New(ctx context.Context, first *Part, open Open) io.ReadCloser {
	if first.ETag == "" {
		return first.Body
	}
	r := &Reader{ctx: ctx, open: open, body: first.Body, etag: first.ETag, end: -1}
	if first.ContentRange != "" {
		from, ok := start(first.ContentRange)
		if !ok {
			return first.Body
		}
		r.at = from
	}
	if first.Size >= 0 {
		r.end = r.at + first.Size
	}
	return r
}

// Read implements io.Reader. After a break that cannot be bridged, the error is a *ChangedError, the error of the
// request for the missing bytes, or ctx's.
func (r *Reader) Read(p []byte) (int, error) {
	for {
		if r.err != nil {
			return 0, r.err
		}
		if r.body == nil {
			if r.err = r.reopen(); r.err != nil {
				return 0, r.err
			}
		}
		n, err := r.body.Read(p)
		if r.at += int64(n); n > 0 {
			r.failures = 0
		}
		// Behind the last byte there is only the end, or the error of a checksum that the client verifies.
		if err == nil || r.at == r.end || errors.Is(err, io.EOF) && r.end < 0 {
			return n, err
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		r.broken = err
		_ = r.body.Close() // it is broken already
		r.body = nil
		if n > 0 {
			return n, nil
		}
	}
}

// Close closes the body.
func (r *Reader) Close() error {
	if r.err == nil {
		r.err = errors.New("the body of the object has been closed")
	}
	if r.body == nil {
		return nil
	}
	return r.body.Close()
}

// reopen requests the bytes from at on.
func (r *Reader) reopen() error {
	last := r.broken
	for r.failures < len(waits) {
		if err := wait(r.ctx, waits[r.failures]); err != nil {
			return err
		}
		r.failures++
		part, err := r.open(r.ctx, r.missing(), r.etag)
		switch {
		case err == nil:
			return r.accept(part)
		case r.ctx.Err() != nil:
			return r.ctx.Err()
		case status(err) == http.StatusPreconditionFailed:
			return &ChangedError{Offset: r.at, ETag: r.etag}
		case status(err) == http.StatusRequestedRangeNotSatisfiable:
			return r.broken // the break came behind the last byte, of a body whose length was not known
		case !temporary(err):
			return err
		}
		last = err
	}
	return fmt.Errorf("the connection broke at byte %d and %d requests for the rest failed: %w", r.at, len(waits), last)
}

// accept continues with the body of part.
func (r *Reader) accept(part *Part) error {
	from, ranged := start(part.ContentRange)
	var err error
	switch {
	case part.ETag != "" && part.ETag != r.etag: // the server ignored If-Match
		err = &ChangedError{Offset: r.at, ETag: r.etag}
	case !ranged && r.at > 0:
		err = fmt.Errorf("the connection broke at byte %d (%w), and the server does not send parts of objects", r.at,
			r.broken)
	case from != r.at:
		err = fmt.Errorf("the server sent the object from byte %d on when asked to continue at %d", from, r.at)
	}
	if err != nil {
		_ = part.Body.Close() // err is more helpful
		return err
	}
	r.body = part.Body
	return nil
}

// missing returns the value of Range for the bytes that have not been read.
func (r *Reader) missing() string {
	if r.end < 0 {
		return fmt.Sprintf("bytes=%d-", r.at)
	}
	return fmt.Sprintf("bytes=%d-%d", r.at, r.end-1)
}

// start returns the first offset of a Content-Range. ok is false if it has none.
func start(contentRange string) (from int64, ok bool) {
	span, ok := strings.CutPrefix(contentRange, "bytes ")
	if !ok {
		return 0, false
	}
	first, _, _ := strings.Cut(span, "-")
	from, err := strconv.ParseInt(first, 10, 64)
	return from, err == nil
}

// status returns the HTTP status of an error; 0 if the server sent no response.
func status(err error) int {
	var answered interface{ HTTPStatusCode() int }
	if errors.As(err, &answered) {
		return answered.HTTPStatusCode()
	}
	return 0
}

// temporary reports whether the same request may succeed later: if there was no response, if the server is
// overloaded or fails, or if it gave up waiting for the request.
func temporary(err error) bool {
	var api interface{ ErrorCode() string }
	if errors.As(err, &api) && strings.HasPrefix(api.ErrorCode(), "RequestTimeout") {
		return true
	}
	s := status(err)
	return s == 0 || s == http.StatusRequestTimeout || s == http.StatusTooManyRequests ||
		s >= http.StatusInternalServerError
}

// wait waits between half of d and d. The error is ctx's.
func wait(ctx context.Context, d time.Duration) error {
	if d > 0 {
		t := time.NewTimer(d/2 + rand.N(d/2))
		defer t.Stop()
		select {
		case <-ctx.Done():
		case <-t.C:
		}
	}
	return ctx.Err()
}
