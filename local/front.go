package local

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

const (
	headerTimeout = 10 * time.Second
	// idleTimeout is the time that idle connections are kept: longer than clients keep them.
	idleTimeout = 5 * time.Minute
	// grace is the time that running requests may take to finish once the server stops.
	grace = 5 * time.Second
	// lastGrace is the time it may take after that to respond to the requests still waiting.
	lastGrace = time.Second
)

// front serves a handler over the network.
type front struct {
	handler http.Handler
	// stopWaiting ends current and later long polls at once, with an empty result.
	stopWaiting func()
	grace       time.Duration // 0 means the default
	patience    patience      // limits for slow request bodies; the zero value means the default
}

// serve serves requests until the context ends, then gives running requests some time to finish. Requests that take
// longer are given up: their contexts end, and clients get the response that the server is shutting down.
func (f front) serve(ctx context.Context, l net.Listener) error {
	requests, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	server := &http.Server{
		Handler: cmp.Or(f.patience, usualPatience).bound(f.handler), ReadHeaderTimeout: headerTimeout,
		IdleTimeout: idleTimeout,
		BaseContext: func(net.Listener) context.Context { return requests },
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	f.stopWaiting()
	err := shutdown(ctx, server, cmp.Or(f.grace, grace))
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

// shutdown stops accepting requests and waits for the running ones.
func shutdown(ctx context.Context, s *http.Server, grace time.Duration) error {
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	return s.Shutdown(stopping)
}
