package s3

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"stepback/local/front"
)

// Server is an S3 endpoint over a directory.
type Server struct {
	opts    Options
	store   *store
	handler http.Handler

	listener net.Listener
	http     *http.Server
	served   chan struct{}
}

// Open prepares the directory dir, which it creates if needed, and removes partial uploads of a killed process.
// Nothing listens before Start. Only one Server may use a directory at a time.
func Open(dir string, opts Options) (*Server, error) {
	opts = opts.withDefaults()
	st, err := openStore(dir, opts)
	if err != nil {
		return nil, fmt.Errorf("open the S3 data directory %s: %w", dir, err)
	}
	return &Server{opts: opts, store: st, handler: st}, nil
}

// Handler returns a handler of the S3 protocol with path-style addresses. Start serves the same handler on a
// separate listener.
func (s *Server) Handler() http.Handler { return s.handler }

// Start listens on Options.Addr and serves until Close. ctx is the parent of the requests' contexts; cancelling it does
// not stop the server.
func (s *Server) Start(ctx context.Context) error {
	if s.listener != nil {
		return errors.New("the S3 server has been started already")
	}
	host, _, err := net.SplitHostPort(s.opts.Addr)
	if err != nil {
		return fmt.Errorf("S3 address %q: %w; write it as host:port", s.opts.Addr, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("S3 address %q: not a loopback address; this server checks no signature, so use 127.0.0.1, [::1] or localhost", s.opts.Addr)
	}
	var config net.ListenConfig
	s.listener, err = config.Listen(ctx, "tcp", s.opts.Addr)
	if err != nil {
		return fmt.Errorf("start the S3 server: %w", err)
	}
	f := &front.Front{Handler: s.handler}
	s.http = f.Server()
	s.http.BaseContext = func(net.Listener) context.Context { return context.WithoutCancel(ctx) }
	s.served = make(chan struct{})
	go func() {
		defer close(s.served)
		_ = s.http.Serve(f.Listener(s.listener)) // returns ErrServerClosed
	}()
	return nil
}

// closeGrace is the time for which Close waits for running requests.
const closeGrace = 2 * time.Second

// Close stops listening and waits up to two seconds for running requests, then cuts them off. It also waits for the
// serving goroutine. An object whose body was cut off is not stored.
func (s *Server) Close() error {
	if s.http == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	<-s.served
	return err
}

// Endpoint returns the URL of the started server, http://127.0.0.1:PORT.
func (s *Server) Endpoint() string { return "http://" + s.listener.Addr().String() }

// CreateBucket creates a bucket; an existing one is left as it is. The name must follow S3's rules for bucket names.
func (s *Server) CreateBucket(name string) error {
	err := s.store.CreateBucket(name)
	if isCode(err, "BucketAlreadyOwnedByYou") {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create the bucket %q: %w", name, err)
	}
	return nil
}
