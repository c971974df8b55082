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

// Trace takes note of the request and the response of one HTTP Task, as TestState shows them. It is for one task.
type Trace struct {
	// Secrets says that what the connection adds to the request is noted too. Without, the request is noted as the task
	// describes it.
	Secrets bool
	// Request and Response are nil when it did not come to one.
	Request  *Request
	Response *Response
}

// Request is a request. Headers are written [name: value, …].
type Request struct{ Protocol, Method, URL, Headers, Body string }

// Response is a response; StatusCode is a number's text.
type Response struct{ Protocol, StatusCode, StatusMessage, Headers, Body string }

type traceKey struct{}

// WithTrace returns a context in which Integration.Invoke takes note of what it does.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// traceOf is the context's trace, or nil.
func traceOf(ctx context.Context) *Trace {
	t, _ := ctx.Value(traceKey{}).(*Trace)
	return t
}

// describe notes the request as the task describes it, before the connection adds to it.
func (t *Trace) describe(ctx context.Context, d *description, region string) {
	if t == nil || t.Secrets {
		return
	}
	if r, err := d.request(ctx, region); err == nil {
		t.request(r, d)
	}
}

// send notes the request as it goes out.
func (t *Trace) send(r *http.Request, d *description) {
	if t != nil && t.Secrets {
		t.request(r, d)
	}
}

func (t *Trace) request(r *http.Request, d *description) {
	body, _ := d.content()
	t.Request = &Request{r.URL.Scheme, r.Method, r.URL.String(), listed(r.Header), body}
}

// receive notes a response; the body is complete once it has been read.
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

// teed is a body that is written elsewhere while it is read.
type teed struct {
	io.Reader
	io.Closer
}

// listed writes headers in one line, in the order of their names.
func listed(h http.Header) string {
	lines := make([]string, 0, len(h))
	for name, values := range h {
		lines = append(lines, strings.ToLower(name)+": "+strings.Join(values, ","))
	}
	slices.Sort(lines)
	return "[" + strings.Join(lines, ", ") + "]"
}
