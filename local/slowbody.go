package local

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// patience is how slowly the bodies of requests may come.
type patience struct {
	// First is how long a body may take whatever its length.
	First time.Duration
	// Rate is how many bytes of it have to come in each second after that.
	Rate int64
}

// usualPatience lets an upload over the slowest line come to its end, and a client that has stopped not hold a
// connection for ever.
var usualPatience = patience{First: time.Minute, Rate: 1 << 10}

// bound gives up requests whose bodies come too slowly, whichever service they are for.
func (p patience) bound(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = &slowBody{ReadCloser: r.Body, patience: p, w: w, begun: time.Now(),
				control: http.NewResponseController(w)}
		}
		next.ServeHTTP(w, r)
	})
}

// slowBody is a body that has to come in time.
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
		_ = b.control.SetReadDeadline(b.begun.Add(allowed)) // where there are no deadlines, nobody is slow
	}
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	switch {
	case err == nil || b.done:
	case errors.Is(err, os.ErrDeadlineExceeded):
		b.done = true
		b.w.Header().Set("Connection", "close")
	default: // the end, or a client that has gone
		b.done = true
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}
