// Package front serves HTTP for all services of a platform. It limits what a client can hold: headers and bodies that
// do not arrive, bodies that trickle, idle connections. It answers an Expect header that net/http leaves unanswered,
// and ends a server without cutting off the requests that are running.
package front

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	headerTimeout = 10 * time.Second
	// idleTimeout is the time that idle connections are kept: longer than clients keep them.
	idleTimeout = 5 * time.Minute
	// unreadTimeout is the time that a connection is kept while the client reads nothing of a response.
	unreadTimeout = time.Hour
	// grace is the time that running requests may take to finish once the server stops.
	grace = 5 * time.Second
	// lastGrace is the time it may take after that to respond to the requests still waiting.
	lastGrace = time.Second
)

// Front serves a handler over the network. Handler is required.
type Front struct {
	Handler http.Handler
	// StopWaiting ends current and later long polls at once, with an empty result; nil if there are none.
	StopWaiting func()
	// Grace is the time that running requests may take to finish once the server stops; 0 means 5 seconds.
	Grace time.Duration

	idle, unread time.Duration // of connections; 0 means the constants
	kept         func()        // called whenever a connection is kept because its response is unread; may be nil
	limits       limits        // of bodies; the zero value means usualLimits
}

// Serve serves requests until ctx ends, then gives running requests some time to finish. Requests that take longer are
// given up: their contexts end, and clients get the response that the server is shutting down. The error is l's.
func (f *Front) Serve(ctx context.Context, l net.Listener) error {
	requests, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	server := f.Server()
	server.BaseContext = func(net.Listener) context.Context { return requests }
	done := make(chan error, 1)
	go func() { done <- server.Serve(f.Listener(l)) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	if f.StopWaiting != nil {
		f.StopWaiting()
	}
	err := shutdown(ctx, server, cmp.Or(f.Grace, grace))
	if errors.Is(err, context.DeadlineExceeded) {
		giveUp()
		err = shutdown(ctx, server, lastGrace)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	if e := <-done; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// Server returns a server with the limits of this package, for an owner that starts and ends it itself. It must accept
// connections from a Listener.
func (f *Front) Server() *http.Server {
	return &http.Server{
		Handler:           newBodies(cmp.Or(f.limits, usualLimits)).bound(answerExpect(f.Handler)),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       cmp.Or(f.idle, idleTimeout), ConnState: noteState,
	}
}

// Listener returns a listener for Server.
func (f *Front) Listener(l net.Listener) net.Listener {
	return &listener{Listener: l, idle: cmp.Or(f.idle, idleTimeout), unread: cmp.Or(f.unread, unreadTimeout),
		kept: f.kept}
}

// shutdown stops accepting requests and waits for the running ones.
func shutdown(ctx context.Context, s *http.Server, grace time.Duration) error {
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	return s.Shutdown(stopping)
}

// answerExpect sends 100 Continue to requests that expect it and have an empty body. net/http sends it when the handler
// reads the body, and so never for an empty one. The SDK for Python then takes the response for the answer to its
// expectation, and finds no answer to its next request on the connection.
func answerExpect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 && r.ProtoAtLeast(1, 1) && strings.EqualFold(r.Header.Get("Expect"), "100-continue") {
			w.WriteHeader(http.StatusContinue)
		}
		next.ServeHTTP(w, r)
	})
}
