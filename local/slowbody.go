package local

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// patience limits how slowly request bodies may arrive.
type patience struct {
	// First is the time that a body may take regardless of its length.
	First time.Duration
	// Rate is the number of bytes that must arrive in each second after that.
	Rate int64
}

// usualPatience lets an upload over the slowest connection finish, but does not let a client that has stopped hold a
// connection for ever.
var usualPatience = patience{First: time.Minute, Rate: 1 << 10}

// bound aborts requests, to any service, if their bodies arrive too slowly.
func (p patience) bound(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = &slowBody{ReadCloser: r.Body, patience: p, w: w, begun: time.Now(),
				control: http.NewResponseController(w)}
		}
		next.ServeHTTP(w, r)
	})
}

// slowBody is a request body that fails if it arrives too slowly.
type slowBody struct {
	io.ReadCloser
	patience patience
	w        http.ResponseWriter
	control  *http.ResponseController
	begun    time.Time
	read     int64
	done     bool
}

// Read implements io.Reader.
func (b *slowBody) Read(p []byte) (int, error) {
	if !b.done {
		allowed := b.patience.First + time.Duration(float64(b.read)/float64(b.patience.Rate)*float64(time.Second))
		_ = b.control.SetReadDeadline(b.begun.Add(allowed)) // without deadline support there is no limit
	}
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	switch {
	case err == nil || b.done:
	case errors.Is(err, os.ErrDeadlineExceeded):
		b.done = true
		b.w.Header().Set("Connection", "close")
	default: // the end of the body, or a client that has gone
		b.done = true
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}
