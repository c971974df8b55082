package httpclient

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

// replay provides the request's body to each attempt, from its start. It uses GetBody, or a copy that is kept while
// attempts read the body. Attempts may read concurrently, and http.Transport may still read for an attempt that has
// failed or whose response has already arrived.
type replay struct {
	source  io.ReadCloser // nil: no body
	getBody func() (io.ReadCloser, error)
	max     int64
	turn    chan struct{} // held while reading the source, when mu is not

	mu       sync.Mutex
	kept     []byte
	end      error // the source's; nil while it has more
	overflow bool  // more than max was read, so kept was dropped
	position int64 // in the source
	readers  int   // open readers
	finished bool
	closed   bool
}

func replayOf(req *http.Request, most int64) *replay {
	r := &replay{max: most}
	if req.Body == nil || req.Body == http.NoBody {
		return r
	}
	r.source, r.getBody = req.Body, req.GetBody
	if r.getBody == nil {
		r.turn = make(chan struct{}, 1)
	}
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
	return &reader{replay: r, over: make(chan struct{})}, nil
}

// lost reports whether the body could not be read again by another attempt.
func (r *replay) lost() bool {
	if r.source == nil || r.getBody != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.overflow
}

// finish declares that there will be no further attempt. The source is closed once its last reader has been closed.
func (r *replay) finish() {
	r.mu.Lock()
	r.finished = true
	last := r.last()
	r.mu.Unlock()
	if last {
		_ = r.source.Close() // as http.Transport does
	}
}

// last reports whether nothing will read the source any more; it returns true only once.
func (r *replay) last() bool {
	if !r.finished || r.readers > 0 || r.closed || r.source == nil {
		return false
	}
	r.closed = true
	return true
}

// reader reads the body for one attempt.
type reader struct {
	replay *replay
	at     int64
	over   chan struct{} // closed by Close
	once   sync.Once
}

var errReaderClosed = errors.New("httpclient: the attempt that read this body has ended")

func (v *reader) Read(p []byte) (int, error) {
	r := v.replay
	for {
		if n, err, known := v.known(p); known {
			return n, err
		}
		select {
		case r.turn <- struct{}{}:
		case <-v.over:
			return 0, errReaderClosed
		}
		if n, err, known := v.known(p); known { // by the previous holder of the turn
			<-r.turn
			return n, err
		}
		n, err := r.source.Read(p)
		v.keep(p[:n], err)
		<-r.turn
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// known reads what another attempt has already read, or returns the error that ended the body. known is false if the
// source has to be read.
func (v *reader) known(p []byte) (n int, err error, known bool) {
	r := v.replay
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-v.over:
		return 0, errReaderClosed, true
	default:
	}
	switch {
	case !r.overflow && v.at < int64(len(r.kept)):
		n = copy(p, r.kept[v.at:])
		v.at += int64(n)
		return n, nil, true
	case v.at != r.position:
		return 0, ErrBodyGone, true
	case r.end != nil:
		return 0, r.end, true
	}
	return 0, nil, false
}

// keep stores bytes that were read from the source, and the error that ended the body.
func (v *reader) keep(read []byte, err error) {
	r := v.replay
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end = err
	r.position += int64(len(read))
	v.at = r.position
	if r.position > r.max {
		r.overflow, r.kept = true, nil
		return
	}
	r.kept = append(r.kept, read...)
}

func (v *reader) Close() error {
	v.once.Do(func() {
		close(v.over)
		r := v.replay
		r.mu.Lock()
		r.readers--
		last := r.last()
		r.mu.Unlock()
		if last {
			_ = r.source.Close() // also ends a read in progress
		}
	})
	return nil
}
