package httpclient

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

// replay gives each attempt the request's body from its beginning: from GetBody, or from what is kept of the body while
// the attempts read it. Attempts may read at the same time, and http.Transport may still read for an attempt that has
// failed.
type replay struct {
	source  io.ReadCloser // nil: no body
	getBody func() (io.ReadCloser, error)
	max     int64

	mu       sync.Mutex
	kept     []byte
	end      error // of the source; nil while there is more
	overflow bool  // more than max was read: kept is gone
	position int64 // of the source
	readers  int   // that are open
	finished bool
	closed   bool
}

func replayOf(req *http.Request, most int64) *replay {
	r := &replay{max: most}
	if req.Body == nil || req.Body == http.NoBody {
		return r
	}
	r.source, r.getBody = req.Body, req.GetBody
	return r
}

// open returns the body for an attempt.
func (r *replay) open(first bool) (io.ReadCloser, error) {
	if r.source == nil {
		return nil, nil //nolint:nilnil // a request without a body has none
	}
	if r.getBody != nil {
		if first {
			r.mu.Lock()
			r.closed = true // by http.Transport
			r.mu.Unlock()
			return r.source, nil
		}
		return r.getBody()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.overflow {
		return nil, ErrBodyGone
	}
	r.readers++
	return &reader{replay: r}, nil
}

// lost tells whether another attempt would find no body.
func (r *replay) lost() bool {
	if r.source == nil || r.getBody != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.overflow
}

// finish says that there will be no other attempt: the source is closed when its last reader is.
func (r *replay) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finished = true
	r.closeIfDone()
}

func (r *replay) closeIfDone() {
	if r.finished && r.readers == 0 && !r.closed && r.source != nil {
		r.closed = true
		_ = r.source.Close() // as http.Transport does
	}
}

// reader is one attempt's view of the body.
type reader struct {
	replay *replay
	at     int64
	closed bool
}

var errReaderClosed = errors.New("httpclient: the attempt that read this body is over")

func (v *reader) Read(p []byte) (int, error) {
	r := v.replay
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case v.closed:
		return 0, errReaderClosed
	case !r.overflow && v.at < int64(len(r.kept)):
		n := copy(p, r.kept[v.at:])
		v.at += int64(n)
		return n, nil
	case v.at != r.position:
		return 0, ErrBodyGone
	case r.end != nil:
		return 0, r.end
	}
	n, err := r.source.Read(p)
	r.end = err
	r.position += int64(n)
	v.at = r.position
	if r.position > r.max {
		r.overflow, r.kept = true, nil
	} else {
		r.kept = append(r.kept, p[:n]...)
	}
	return n, err
}

func (v *reader) Close() error {
	r := v.replay
	r.mu.Lock()
	defer r.mu.Unlock()
	if !v.closed {
		v.closed = true
		r.readers--
		r.closeIfDone()
	}
	return nil
}
