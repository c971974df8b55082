package httptask

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Trace records the request and the response of an HTTP Task in the form of TestState. Use it for a single task.
type Trace struct {
	// Secrets determines whether the recorded request includes the connection's additions. If it is false, the
	// request is recorded as the task describes it.
	Secrets bool
	// Request and Response are nil if there was no request or no response.
	Request  *Request
	Response *Response
}

// Request is a recorded request. Headers have the form [name: value, …].
type Request struct{ Protocol, Method, URL, Headers, Body string }

// Response is a recorded response; StatusCode is a number as text.
type Response struct{ Protocol, StatusCode, StatusMessage, Headers, Body string }

type traceKey struct{}

// WithTrace returns a context that makes Integration.Invoke record its exchange in t.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// traceOf returns the context's trace, or nil.
func traceOf(ctx context.Context) *Trace {
	t, _ := ctx.Value(traceKey{}).(*Trace)
	return t
}

// describe records the request as the task describes it, before the connection adds to it.
func (t *Trace) describe(ctx context.Context, d *description, region string) {
	if t == nil || t.Secrets {
		return
	}
	if r, err := d.request(ctx, region); err == nil {
		t.request(r, d)
	}
}

// send records the request as it is sent.
func (t *Trace) send(r *http.Request, d *description) {
	if t != nil && t.Secrets {
		t.request(r, d)
	}
}

func (t *Trace) request(r *http.Request, d *description) {
	body, _ := d.content()
	t.Request = &Request{r.URL.Scheme, r.Method, r.URL.String(), listed(r.Header), body}
}

// receive records a response. The caller must call noted after reading the body.
func (t *Trace) receive(r *http.Response) (noted func()) {
	if t == nil {
		return func() {}
	}
	var body bytes.Buffer
	r.Body = &teed{io.TeeReader(r.Body, &body), r.Body}
	return func() {
		t.Response = &Response{
			r.Request.URL.Scheme, strconv.Itoa(r.StatusCode), statusText(r), listed(r.Header),
			strings.ToValidUTF8(body.String(), "\uFFFD"),
		}
	}
}

// teed is a body that is copied elsewhere while it is read.
type teed struct {
	io.Reader
	io.Closer
}

// listed formats headers on one line, sorted by name.
func listed(h http.Header) string {
	lines := make([]string, 0, len(h))
	for name, values := range h {
		lines = append(lines, strings.ToLower(name)+": "+strings.Join(values, ","))
	}
	slices.Sort(lines)
	return "[" + strings.Join(lines, ", ") + "]"
}
