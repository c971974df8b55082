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
	// idleTimeout is how long connections are kept on which nothing is asked: longer than clients keep them.
	idleTimeout = 5 * time.Minute
	// grace is how long requests may take to finish once the server is told to stop.
	grace = 5 * time.Second
	// lastGrace is how long it may take after that to tell those who still wait.
	lastGrace = time.Second
)

// front is how requests reach a handler over the network.
type front struct {
	handler http.Handler
	// stopWaiting has requests that wait for something to come be answered that nothing came, and those that come
	// later.
	stopWaiting func()
	grace       time.Duration // 0 means the usual
	patience    patience      // with bodies; the zero value means the usual
}

// serve answers requests until the context ends, then lets those under way finish for a while. Those that take longer
// are given up: their contexts end, so that clients are told that the server is shutting down.
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

// shutdown takes no more requests and waits for those under way.
func shutdown(ctx context.Context, s *http.Server, grace time.Duration) error {
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	return s.Shutdown(stopping)
}
