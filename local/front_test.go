package local

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// TestServersThatStop stops servers while a request waits for something to come: it is told that nothing came, or given
// up.
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
