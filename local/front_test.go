package local

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// TestServersThatStop stops servers during a long poll: it returns that nothing has arrived, or is given up.
func TestServersThatStop(t *testing.T) {
	t.Parallel()
	for want, grace := range map[string]time.Duration{"nothing came": time.Hour, "given up": time.Millisecond} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancel(t.Context())
			nothing := make(chan struct{})
			f := front{
				grace: grace,
				handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					stop()
					select {
					case <-nothing:
						_, _ = io.WriteString(w, "nothing came")
					case <-r.Context().Done():
						_, _ = io.WriteString(w, "given up")
					}
				}),
				stopWaiting: func() {
					if want == "nothing came" {
						close(nothing)
					}
				},
			}
			l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- f.serve(ctx, l) }()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String(), nil)
			if err != nil {
				t.Fatal(err)
			}
			a, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = a.Body.Close() }()
			if got, err := io.ReadAll(a.Body); err != nil || string(got) != want {
				t.Errorf("%s %v", got, err)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSlowBodiesAreGivenUp sends part of a body and stops, and sends a complete one slowly but in time.
func TestSlowBodiesAreGivenUp(t *testing.T) {
	t.Parallel()
	read := make(chan error, 1)
	f := front{
		patience: patience{First: 20 * time.Millisecond, Rate: 100},
		handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, err := io.ReadAll(r.Body)
			read <- err
		}),
		stopWaiting: func() {},
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.serve(ctx, l) }()
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "PUT /b/k HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nsome"); err != nil {
		t.Fatal(err)
	}
	if err := <-read; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the handler read to %v", err)
	}
	if answer, err := io.ReadAll(c); err != nil || !strings.Contains(string(answer), "Connection: close") {
		t.Errorf("%s, %v", answer, err)
	}
	for range 2 { // on one connection: one body's deadline does not affect the next request
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://"+l.Addr().String(), strings.NewReader("whole"))
		if err != nil {
			t.Fatal(err)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Body.Close()
		if err := <-read; err != nil {
			t.Error(err)
		}
	}
}
