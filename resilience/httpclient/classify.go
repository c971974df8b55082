package httpclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"stepback/resilience"
	"stepback/retry"
)

// TransportError is a request that got no response.
type TransportError struct {
	// Sent says that something of the request had been handed to a connection: the server may have acted on it.
	Sent bool
	// Err is what the base transport said.
	Err error

	connecting bool // a connection was asked for: the request itself was fit to be sent
}

// Error says how far the request came.
func (e *TransportError) Error() string {
	if e.Sent {
		return fmt.Sprintf("after the request was sent: %v", e.Err)
	}
	return fmt.Sprintf("before anything was sent: %v", e.Err)
}

// Unwrap is what the base transport said.
func (e *TransportError) Unwrap() error { return e.Err }

// StatusError is a response whose status says that the request may be repeated.
type StatusError struct {
	Status         int
	Classification retry.Classification
	after          time.Duration
}

// Error reads like "HTTP status 503 Service Unavailable".
func (e *StatusError) Error() string {
	return fmt.Sprintf("HTTP status %d %s", e.Status, http.StatusText(e.Status))
}

// HTTPStatusCode is the status.
func (e *StatusError) HTTPStatusCode() int { return e.Status }

// RetryAfter is the pause that the server asks for; 0 if it asks for none.
func (e *StatusError) RetryAfter() time.Duration { return e.after }

// judge finds fault with a response that may be repeated. What the caller has to decide by itself (404, 409, 422 …) is
// an answer like any other.
func (c *call) judge(resp *http.Response) error {
	class, failed := retry.ClassifyHTTP(resp.StatusCode)
	if !failed || class.Class == retry.Permanent || class.Class == retry.Conflict {
		return nil
	}
	e := &StatusError{Status: resp.StatusCode, Classification: class}
	if value := resp.Header.Get("Retry-After"); value != "" {
		e.after, _ = resilience.ParseRetryAfter(value, resp.Header.Get("Date"), time.Now())
	}
	return e
}

// final says why the request cannot be sent again.
func (c *call) final() error {
	if c.body.lost() {
		return ErrBodyGone
	}
	return nil
}

// classify names what happened to an attempt.
func classify(err error) (retry.Classification, bool) {
	transport, ok := errors.AsType[*TransportError](err)
	if !ok {
		return retry.Classify(err)
	}
	c, known := retry.Classify(transport.Err)
	_, timeout := errors.AsType[*resilience.TimeoutError](err)
	switch {
	case known && c.Class == retry.Permanent, !transport.connecting: // the request is not fit to be sent
		return c, known
	case transport.Sent && timeout:
		return lost(retry.TimeoutError, "attempt timeout, after the request was sent")
	case transport.Sent:
		return lost(retry.SocketTimeoutError, "connection lost after the request was sent")
	default:
		return retry.Classification{
			Error:    retry.ConnectionTimeoutError,
			Class:    retry.Transient,
			Identity: "no connection: nothing was sent",
		}, true
	}
}

func lost(name, identity string) (retry.Classification, bool) {
	return retry.Classification{Error: name, Class: retry.UnknownOutcome, Identity: identity}, true
}

// progress is how far an attempt came.
type progress struct {
	asked, wrote atomic.Bool
}

func (p *progress) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:      func(string) { p.asked.Store(true) },
		WroteHeaders: func() { p.wrote.Store(true) }, // they may not have left yet
	})
}

// sent tells whether anything of the request may have reached the server. A base that reports no progress is taken to
// have sent it.
func (p *progress) sent() bool { return p.wrote.Load() || !p.asked.Load() }
