package awsjson

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// readBody reads the body of a request, of a length up to a limit. It must come within a while, so that clients that
// stop in the middle hold nothing for ever.
func readBody(w http.ResponseWriter, r *http.Request, limit int64, patience time.Duration) ([]byte, error) {
	if r.ContentLength > limit { // as the client says itself
		w.Header().Set("Connection", "close") // what comes is not read
		return nil, tooLarge(limit)
	}
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Now().Add(patience)) // where there are no deadlines, nobody is slow
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	_ = c.SetReadDeadline(time.Time{})
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, tooLarge(large.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		return nil, tooSlow
	case err != nil:
		return nil, malformed("the body could not be read")
	}
	return body, nil
}
