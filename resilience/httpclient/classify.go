package httpclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"stepback/aws"
	"stepback/resilience"
	"stepback/retry"
)

// TransportError is returned for a request that got no response.
type TransportError struct {
	// Sent is true if part of the request had been written to a connection, so that the server may have acted on it.
	Sent bool
	// Err is the base transport's error.
	Err error

	connecting bool // a connection was requested, so the request itself was valid
}

// Error returns Err's text and whether the request had been sent.
func (e *TransportError) Error() string {
	if e.Sent {
		return fmt.Sprintf("after the request was sent: %v", e.Err)
	}
	return fmt.Sprintf("before anything was sent: %v", e.Err)
}

// Unwrap returns the base transport's error.
func (e *TransportError) Unwrap() error { return e.Err }

// StatusError reports a response whose status permits repeating the request.
type StatusError struct {
	Status         int
	Classification retry.Classification
	after          time.Duration
}

// Error returns a text such as "HTTP status 503 Service Unavailable".
func (e *StatusError) Error() string {
	return fmt.Sprintf("HTTP status %d %s", e.Status, http.StatusText(e.Status))
}

// HTTPStatusCode returns the status.
func (e *StatusError) HTTPStatusCode() int { return e.Status }

// RetryAfter returns the pause that the server requests, or 0.
func (e *StatusError) RetryAfter() time.Duration { return e.after }

// judge returns an error for a response that permits repeating the request. A response that the caller has to handle
// itself (404, 409, 422 …) is not an error.
func (c *call) judge(resp *http.Response) error {
	class, failed := retry.ClassifyHTTP(resp.StatusCode)
	if !failed || class.Class == retry.Permanent || class.Class == retry.Conflict {
		return nil
	}
	e := &StatusError{Status: resp.StatusCode, Classification: class}
	if value := resp.Header.Get("Retry-After"); value != "" {
		e.after, _ = resilience.ParseRetryAfter(value, resp.Header.Get("Date"), time.Now())
	}
	e.after = max(e.after, aws.ParseRetryAfter(resp.Header.Get(aws.RetryAfterHeader)))
	return e
}

// final returns an error if the request cannot be sent again.
func (c *call) final() error {
	if c.body.lost() {
		return ErrBodyGone
	}
	return nil
}

// classify classifies the error of an attempt.
func classify(err error) (retry.Classification, bool) {
	transport, ok := errors.AsType[*TransportError](err)
	if !ok {
		return retry.Classify(err)
	}
	c, known := retry.Classify(transport.Err)
	_, timeout := errors.AsType[*resilience.TimeoutError](err)
	switch {
	case known && c.Class == retry.Permanent, !transport.connecting: // the request is not valid
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

// progress records whether the base transport reports its progress, and whether it has written anything.
type progress struct {
	asked, wrote atomic.Bool
}

func (p *progress) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:      func(string) { p.asked.Store(true) },
		WroteHeaders: func() { p.wrote.Store(true) }, // they may still be in a buffer
	})
}

// sent reports whether any part of the request may have reached the server. If the base transport reports no
// progress, the request counts as sent.
func (p *progress) sent() bool { return p.wrote.Load() || !p.asked.Load() }
