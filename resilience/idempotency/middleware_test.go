package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"stepback/resilience/idempotency"
)

// shop is a guarded handler that counts its orders.
type shop struct {
	handler http.Handler
	orders  atomic.Int32
	status  atomic.Int32
	release chan struct{} // an order waits for it, unless it is nil
	entered chan struct{}
}

func newShop(t *testing.T, h idempotency.HTTP, s idempotency.Config) *shop {
	t.Helper()
	x := &shop{}
	x.status.Store(http.StatusCreated)
	x.handler = guard(t, open(t), s).Middleware(h)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := x.orders.Add(1)
		if x.release != nil {
			x.entered <- struct{}{}
			<-x.release
		}
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Location", fmt.Sprint("/orders/", n))
		w.Header().Add("X-Two", "a")
		w.Header().Add("X-Two", "b")
		w.WriteHeader(int(x.status.Load()))
		fmt.Fprintf(w, "order %d: %s (%v)", n, body, r.Context().Err())
	}))
	return x
}

func (x *shop) send(ctx context.Context, method, key, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, method, "/orders?x=1", strings.NewReader(body))
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	x.handler.ServeHTTP(w, r)
	return w
}

func wantResponse(t *testing.T, w *httptest.ResponseRecorder, status int, text string) {
	t.Helper()
	if w.Code != status || !strings.Contains(w.Body.String(), text) {
		t.Errorf("%d %s, want %d with %q", w.Code, w.Body, status, text)
	}
}

func TestARepeatedRequestGetsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	x := newShop(t, idempotency.HTTP{}, idempotency.Config{})
	first := x.send(t.Context(), "POST", `"k1"`, "tea")
	wantResponse(t, first, 201, "order 1: tea (<nil>)")
	second := x.send(t.Context(), "POST", "k1", "tea") // quotes do not matter
	wantResponse(t, second, 201, "order 1: tea")
	if second.Header().Get("Location") != "/orders/1" || len(second.Header().Values("X-Two")) != 2 ||
		second.Header().Get("Idempotency-Replayed") != "true" || first.Header().Get("Idempotency-Replayed") != "" {
		t.Errorf("headers %v", second.Header())
	}
	wantResponse(t, x.send(t.Context(), "POST", `"k1"`, "coffee"), 422, "another request")
	wantResponse(t, x.send(t.Context(), "POST", `"k1"`, "tea", "Content-Type", "x/y"), 422, "another request")
	// a different operation has a different key
	wantResponse(t, x.send(t.Context(), "PATCH", `"k1"`, "tea"), 201, "order 2")
	wantResponse(t, x.send(t.Context(), "POST", `"k2"`, "tea"), 201, "order 3")
	wantResponse(t, x.send(t.Context(), "PUT", `"k1"`, "tea"), 201, "order 4") // not guarded
	wantResponse(t, x.send(t.Context(), "POST", "", "tea"), 201, "order 5")
}

func TestWhileTheFirstRuns(t *testing.T) {
	t.Parallel()
	x := newShop(t, idempotency.HTTP{}, idempotency.Config{})
	x.release, x.entered = make(chan struct{}), make(chan struct{})
	done := make(chan *httptest.ResponseRecorder)
	go func() { done <- x.send(t.Context(), "POST", `"k"`, "tea") }()
	<-x.entered
	w := x.send(t.Context(), "POST", `"k"`, "tea")
	wantResponse(t, w, 409, "is still running")
	if w.Header().Get("Retry-After") != "30" || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("headers %v", w.Header())
	}
	close(x.release)
	wantResponse(t, <-done, 201, "order 1")
	wantResponse(t, x.send(t.Context(), "POST", `"k"`, "tea"), 201, "order 1")
}

func TestAClientThatGoesAway(t *testing.T) {
	t.Parallel()
	x := newShop(t, idempotency.HTTP{}, idempotency.Config{})
	x.release, x.entered = make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); x.send(ctx, "POST", `"k"`, "tea") }()
	<-x.entered
	cancel()
	close(x.release)
	<-done
	wantResponse(t, x.send(t.Context(), "POST", `"k"`, "tea"), 201, "order 1: tea (<nil>)")
}

func TestWhatIsKept(t *testing.T) {
	t.Parallel()
	for status, kept := range map[int32]bool{
		200: true, 400: true, 404: true, 409: true, 500: true, 504: true, 429: false, 502: false, 503: false,
	} {
		x := newShop(t, idempotency.HTTP{}, idempotency.Config{})
		x.status.Store(status)
		x.send(t.Context(), "POST", `"k"`, "tea")
		x.send(t.Context(), "POST", `"k"`, "tea")
		if got := x.orders.Load() == 1; got != kept {
			t.Errorf("%d: kept %v, want %v", status, got, kept)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	x := newShop(t, idempotency.HTTP{Required: true, MaxRequest: 5}, idempotency.Config{MaxAnswer: 20})
	wantResponse(t, x.send(t.Context(), "POST", "", "tea"), 400, "needs an Idempotency-Key")
	for _, key := range []string{`"`, `""`, `"abc`, "\x01", "\x7f", strings.Repeat("k", 256)} {
		wantResponse(t, x.send(t.Context(), "POST", key, "tea"), 400, "one string")
	}
	wantResponse(t, x.send(t.Context(), "POST", "a", "tea", "Idempotency-Key", "b"), 400, "one string")
	wantResponse(t, x.send(t.Context(), "POST", "k", "coffee"), 413, "5 bytes")
	if x.orders.Load() != 0 {
		t.Errorf("%d orders", x.orders.Load())
	}
	wantResponse(t, x.send(t.Context(), "POST", "k", "tea"), 201, "order 1")
	wantResponse(t, x.send(t.Context(), "POST", "k", "tea"), 409, "too long to store")
}

func TestPrincipalsHaveTheirOwnKeys(t *testing.T) {
	t.Parallel()
	x := newShop(t, idempotency.HTTP{Principal: func(r *http.Request) string { return r.Header.Get("User") }},
		idempotency.Config{})
	wantResponse(t, x.send(t.Context(), "POST", "k", "tea", "User", "a"), 201, "order 1")
	wantResponse(t, x.send(t.Context(), "POST", "k", "tea", "User", "b"), 201, "order 2")
	wantResponse(t, x.send(t.Context(), "POST", "k", "tea", "User", "a"), 201, "order 1")
}

// down is a store that is unreachable.
type down struct{ idempotency.Store }

func (down) Begin(context.Context, idempotency.Claim) (idempotency.Standing, error) {
	return idempotency.Standing{}, errors.New("no route to host")
}
func (down) MaxAnswer() int { return 0 }

func TestAStoreThatIsDown(t *testing.T) {
	t.Parallel()
	var told error
	g := guard(t, down{}, idempotency.Config{OnError: func(_ string, err error) { told = err }})
	x := &shop{handler: g.Middleware(idempotency.HTTP{})(nil)}
	w := x.send(t.Context(), "POST", "k", "tea")
	wantResponse(t, w, 503, "retry later")
	if told == nil || strings.Contains(w.Body.String(), "route") {
		t.Errorf("told %v; %s", told, w.Body)
	}
}
