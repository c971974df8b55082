package front

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// limits limit how slowly request bodies may arrive. Only the time counts in which the server waits for bytes.
type limits struct {
	// Window is the time within which a body must bring Window × Least bytes, again and again until its end.
	Window time.Duration
	// Least is the number of bytes per second below which a body is given up.
	Least int64
	// Slow is the number of bytes per second below which a body is slow. MostSlow is the largest number of slow bodies
	// at a time; further ones are given up.
	Slow     int64
	MostSlow int
	// Drain is the time in which a body that its handler did not read must have arrived, for the connection to be kept.
	Drain time.Duration
}

// usualLimits let an upload over the slowest connection finish. A client that stops, or sends a byte now and then,
// holds its connection and the file of its object for 20 seconds; clients that send just enough hold no more than 64.
var usualLimits = limits{Window: 20 * time.Second, Least: 1 << 10, Slow: 64 << 10, MostSlow: 64, Drain: 5 * time.Second}

// bodies are the request bodies of a server.
type bodies struct {
	limits
	mu   sync.Mutex
	slow int
}

func newBodies(l limits) *bodies { return &bodies{limits: l} }

// bound aborts requests, to any service, if their bodies arrive too slowly.
func (b *bodies) bound(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		now := time.Now()
		body := &slowBody{ReadCloser: r.Body, of: b, w: w, control: http.NewResponseController(w), start: now,
			paused: now}
		defer body.finish()
		// net/http looks at the body of the request that it made: whether it has to be drained, and whether the
		// connection can be kept. Only the handler's copy gets the other body.
		copied := r.WithContext(r.Context())
		copied.Body = body
		next.ServeHTTP(w, copied)
	})
}

// slowBody is a request body that fails if it arrives too slowly. The error is an os.ErrDeadlineExceeded.
type slowBody struct {
	io.ReadCloser
	of      *bodies
	w       http.ResponseWriter
	control *http.ResponseController

	start  time.Time // of the window, moved by the pauses between reads
	paused time.Time // when the last read ended
	read   int64     // bytes in this window
	slow   bool      // counted in of.slow
	err    error     // why the body has ended
}

// Bounded implements server.Bounded.
func (*slowBody) Bounded() {}

// Read implements io.Reader.
func (b *slowBody) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	b.start = b.start.Add(time.Since(b.paused))
	end := b.start.Add(b.of.Window)
	if b.read >= b.least() { // so that the deadline never passes before the body is given up
		end = end.Add(b.of.Window)
	}
	b.deadline(end)
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	b.paused = time.Now()
	if err == nil && b.paused.Sub(b.start) >= b.of.Window {
		err = b.next()
	}
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		b.w.Header().Set("Connection", "close")
		b.deadline(b.paused) // nothing more is read
	default: // the end of the body, or a client that has gone
		b.deadline(time.Time{})
	}
	b.err = err
	b.release()
	return n, err
}

func (b *slowBody) least() int64 { return b.of.Least * int64(b.of.Window) / int64(time.Second) }

// next begins the next window. It returns an error if the body is slow and too many are.
func (b *slowBody) next() error {
	if b.read < b.least() {
		return os.ErrDeadlineExceeded
	}
	isSlow := b.read*int64(time.Second) < b.of.Slow*int64(b.paused.Sub(b.start))
	b.start, b.read = b.paused, 0
	if !isSlow {
		b.release()
		return nil
	}
	if b.slow {
		return nil
	}
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	if b.of.slow >= b.of.MostSlow {
		return fmt.Errorf("the body arrives at less than %d bytes per second, as %d others do: %w", b.of.Slow, b.of.slow,
			os.ErrDeadlineExceeded)
	}
	b.of.slow++
	b.slow = true
	return nil
}

// release makes room for another slow body.
func (b *slowBody) release() {
	if !b.slow {
		return
	}
	b.slow = false
	b.of.mu.Lock()
	b.of.slow--
	b.of.mu.Unlock()
}

// finish limits the time in which net/http reads what the handler has not read.
func (b *slowBody) finish() {
	b.release()
	if b.err == nil {
		b.deadline(time.Now().Add(b.of.Drain))
	}
}

// deadline sets the deadline of reads. Without support for deadlines there is no limit.
func (b *slowBody) deadline(t time.Time) { _ = b.control.SetReadDeadline(t) }
