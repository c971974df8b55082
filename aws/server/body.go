package server

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// Bounded is implemented by request bodies that fail by themselves if they arrive too slowly. Services set no deadline
// for them.
type Bounded interface{ Bounded() }

// readBody reads the body of a request, up to a limit. A body that is not Bounded must arrive within patience, so that
// clients that stop in the middle do not hold resources forever.
func readBody(w http.ResponseWriter, r *http.Request, limit int64, patience time.Duration) ([]byte, error) {
	if r.ContentLength > limit { // as declared by the client
		w.Header().Set("Connection", "close") // the rest is not read
		return nil, tooLarge(limit)
	}
	if _, bounded := r.Body.(Bounded); !bounded {
		c := http.NewResponseController(w)
		_ = c.SetReadDeadline(time.Now().Add(patience)) // if deadlines are not supported, no client is slow
		defer func() { _ = c.SetReadDeadline(time.Time{}) }()
	}
	body, err := readAll(http.MaxBytesReader(w, r.Body, limit), r.ContentLength)
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

// readAll reads r to the end. announced is the length that the client announced.
func readAll(r io.Reader, announced int64) ([]byte, error) {
	const trusted = 512 << 10 // more than the input of an execution, escaped
	if announced <= 0 || announced > trusted {
		return io.ReadAll(r)
	}
	b := make([]byte, 0, announced+1) // so that the end is detected with the last byte
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return b, err
		}
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
	}
}

// body reads the request body, which may be compressed.
func (c *call) body(limit int64) ([]byte, error) {
	body, err := readBody(c.writer, c.request, limit, c.service.patience())
	coded := c.request.Header.Get("Content-Encoding")
	if err != nil || coded == "" || len(body) == 0 && !c.service.cfg.Compress {
		return body, err
	}
	encodings := strings.Split(coded, ",")
	uncompressed := error(malformed("The body is not compressed as Content-Encoding says"))
	if c.service.cfg.Compress {
		uncompressed = internal
	}
	var z io.Reader
	switch last := strings.ToLower(strings.TrimSpace(encodings[len(encodings)-1])); {
	case last == gzipped:
		z, err = gzip.NewReader(bytes.NewReader(body))
	case last == deflated && c.service.cfg.Compress:
		z, err = zlib.NewReader(bytes.NewReader(body))
	case c.service.cfg.Compress && last != identical:
		return nil, uncompressed
	default:
		return body, nil
	}
	if err != nil {
		return nil, uncompressed
	}
	text, err := io.ReadAll(io.LimitReader(z, limit+1))
	switch {
	case err != nil:
		return nil, uncompressed
	case int64(len(text)) > limit:
		return nil, tooLarge(limit)
	}
	c.request.Header.Del("Content-Encoding")
	if rest := strings.Join(encodings[:len(encodings)-1], ","); rest != "" {
		c.request.Header.Set("Content-Encoding", rest)
	}
	return text, nil
}
