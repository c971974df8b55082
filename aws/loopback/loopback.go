// Package loopback lets a client call an http.Handler of its own process as if it were a server, without a network.
// Tasks call the embedded services this way. It never streams: a response is complete before the client sees it.
package loopback

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
)

// URL is a base address for clients of a handler. The host is never resolved.
const URL = "http://loopback.invalid"

// Client returns an HTTP client. The handler h answers all its requests, whatever their host.
func Client(h http.Handler) *http.Client { return &http.Client{Transport: transport{h}} }

type transport struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper. It returns after the handler has finished.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	in := r.Clone(context.WithValue(r.Context(), inside{}, true))
	if in.Body == nil {
		in.Body = http.NoBody
	}
	if in.Host == "" {
		in.Host = in.URL.Host
	}
	if n, ok := contentLength(in); ok {
		in.Header.Set("Content-Length", strconv.FormatInt(n, 10))
	}
	in.RequestURI, in.RemoteAddr = in.URL.RequestURI(), "127.0.0.1:0"
	w := &response{header: http.Header{}}
	cut := serve(t.handler, w, in)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if cut {
		return nil, errCut
	}
	w.WriteHeader(http.StatusOK)
	return &http.Response{
		Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// inside is the key of a context's mark that its request came from this process.
type inside struct{}

// Inside reports whether a request came from a client of this package: it did not cross a network, and its
// sender is part of this process.
func Inside(r *http.Request) bool {
	marked, _ := r.Context().Value(inside{}).(bool)
	return marked
}

// errCut is the error that a client gets if the server cuts the connection.
var errCut = errors.New("connection reset by peer")

// serve runs the handler. cut is true if the handler panicked with http.ErrAbortHandler, which makes a server cut
// the connection.
func serve(h http.Handler, w http.ResponseWriter, r *http.Request) (cut bool) {
	defer func() {
		what := recover()
		cut = what == http.ErrAbortHandler //nolint:errorlint // it is the value that is thrown
		if what != nil && !cut {
			panic(what)
		}
	}()
	h.ServeHTTP(w, r)
	return false
}

// contentLength returns the Content-Length that a client would send; some handlers require it. The second result is
// false if a client would send none.
func contentLength(r *http.Request) (int64, bool) {
	empty := r.Method == http.MethodPut || r.Method == http.MethodPost || r.Method == http.MethodPatch
	return r.ContentLength, r.ContentLength > 0 || r.ContentLength == 0 && r.Body == http.NoBody && empty
}

// response collects what a handler writes.
type response struct {
	header, sent http.Header
	status       int
	body         bytes.Buffer
}

// Header implements http.ResponseWriter.
func (w *response) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter. Only the first status counts.
func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status, w.sent = status, w.header.Clone()
	}
}

// Write implements http.ResponseWriter.
func (w *response) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}
