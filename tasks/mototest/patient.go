package mototest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
)

// attempts is the maximum number of times that a request is sent while moto responds with its error page: concurrent
// requests occasionally race inside moto.
const attempts = 4

// patient returns a proxy that passes requests on to moto, and repeats requests that failed inside it.
func patient(target *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // moto puts it into the URLs of queues
		},
		Transport: again{http.DefaultTransport},
	}
}

type again struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (a again) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	for n := 1; ; n++ {
		attempt := r.Clone(r.Context())
		attempt.Body, attempt.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		answer, err := a.RoundTripper.RoundTrip(attempt)
		if err != nil || n == attempts || answer.StatusCode != http.StatusInternalServerError ||
			!strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") {
			return answer, err
		}
		_ = answer.Body.Close()
	}
}
