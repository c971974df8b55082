package httpclient_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"stepback/adaptive/breaker"
	"stepback/adaptive/deadline"
	"stepback/adaptive/limiter"
	"stepback/resilience"
	"stepback/resilience/httpclient"
	"stepback/retry"
)

// hasty is a clock that records waits and does not wait.
type hasty struct {
	mu    sync.Mutex
	waits []time.Duration
	held  []*heldTimer
	// holds keeps timers from firing until release is called, so that a test decides what happens before a timeout.
	holds bool
}

// heldTimer is a timer of a clock that holds timers. f is nil once it has fired or was stopped.
type heldTimer struct{ f func() }

func (*hasty) Now() time.Time { return time.Now() }

func (c *hasty) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits = append(c.waits, d)
	return ctx.Err()
}

func (c *hasty) AfterFunc(d time.Duration, f func()) func() bool {
	if !c.holds {
		return time.AfterFunc(d, f).Stop
	}
	timer := &heldTimer{f}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = append(c.held, timer)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		pending := timer.f != nil
		timer.f = nil
		return pending
	}
}

// release fires the held timers, and returns how many there were, including those that were stopped.
func (c *hasty) release() int {
	c.mu.Lock()
	held := c.held
	c.held = nil
	var due []func()
	for _, timer := range held {
		if timer.f != nil {
			due = append(due, timer.f)
			timer.f = nil
		}
	}
	c.mu.Unlock()
	for _, f := range due {
		f()
	}
	return len(held)
}

// three waits 1 s, 2 s and 4 s.
var three = retry.Policy{Interval: time.Second, Rate: 2, MaxAttempts: 3}

// server answers with its turns one after the other; the last turn repeats.
type server struct {
	*httptest.Server
	client      *http.Client
	transport   *httpclient.Transport
	clock       hasty
	requests    atomic.Int32
	connections atomic.Int32
	mu          sync.Mutex
	bodies      []string
	keys        []string
}

func (s *server) url() string { return s.URL }

func serve(t *testing.T, set func(*httpclient.Config), turns ...http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(s.requests.Add(1))
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.bodies = append(s.bodies, string(body))
		s.keys = append(s.keys, r.Header.Get("Idempotency-Key"))
		s.mu.Unlock()
		turns[min(n, len(turns))-1](w, r)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	config := httpclient.Config{
		Base:    base,
		Policy:  &three,
		Options: []resilience.Option{resilience.WithClock(&s.clock)},
	}
	if set != nil {
		set(&config)
	}
	var err error
	if s.transport, err = httpclient.New(config); err != nil {
		t.Fatal(err)
	}
	s.client = &http.Client{Transport: s.transport}
	return s
}

func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		fmt.Fprintf(w, "body of %d", code)
	}
}

// hangUp closes the connection after reading the request.
func hangUp(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

// send sends a request whose body can be read only once, and checks the status. A want of 0 expects an error, which
// is returned.
func (s *server) send(t *testing.T, method, body string, want int, header ...string) (string, error) {
	t.Helper()
	var r io.Reader
	if body != "" {
		r = io.MultiReader(strings.NewReader(body)) // hides the reader from NewRequest, which would set GetBody
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.url(), r)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := s.client.Do(req)
	if err != nil {
		if want != 0 {
			t.Fatalf("%s: %v, want status %d", method, err, want)
		}
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != want {
		t.Fatalf("%s: status %d, %v; want %d", method, resp.StatusCode, err, want)
	}
	return string(text), nil
}

func (s *server) wantRequests(t *testing.T, want int32) {
	t.Helper()
	if got := s.requests.Load(); got != want {
		t.Errorf("%d requests, want %d", got, want)
	}
}

func TestUnavailableIsRepeatedOnOneConnection(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, status(503), status(429), status(200))
	if body, _ := s.send(t, "GET", "", 200); body != "body of 200" {
		t.Errorf("body %q", body)
	}
	s.wantRequests(t, 3)
	if got := s.connections.Load(); got != 1 {
		t.Errorf("%d connections: the failed responses were not drained", got)
	}
	if want := []time.Duration{time.Second, 2 * time.Second}; !slices.Equal(s.clock.waits, want) {
		t.Errorf("waits %v, want %v", s.clock.waits, want)
	}
	host := strings.TrimPrefix(s.url(), "http://")
	if got := s.transport.Statistics()[host]; got.Calls != 1 || got.Attempts != 3 || got.RetriedSuccesses != 1 {
		t.Errorf("counted %+v", got)
	}
}

func TestTheLastResponseIsHandedOutWhole(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, status(503))
	if body, _ := s.send(t, "GET", "", 503); body != "body of 503" {
		t.Errorf("body %q", body)
	}
	s.wantRequests(t, 4)
}

func TestAnswersAreNotRepeated(t *testing.T) {
	t.Parallel()
	for _, code := range []int{200, 204, 304, 400, 401, 403, 404, 409, 412, 422, 501} {
		s := serve(t, nil, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
		_, _ = s.send(t, "GET", "", code)
		s.wantRequests(t, 1)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		header   []string
		wait     time.Duration
		requests int32
	}{
		"seconds": {[]string{"Retry-After", "7"}, 7 * time.Second, 2},
		"shorter": {[]string{"Retry-After", "0"}, time.Second, 2},
		"date": {[]string{"Retry-After", "Sun, 22 Nov 2026 12:00:30 GMT", "Date",
			"Sun, 22 Nov 2026 12:00:00 GMT"}, 30 * time.Second, 2},
		"1970":            {[]string{"Retry-After", "Thu, 01 Jan 1970 00:00:00 GMT"}, time.Second, 2},
		"garbage":         {[]string{"Retry-After", "soon, I hope"}, time.Second, 2},
		"a year":          {[]string{"Retry-After", "31536000"}, 0, 1},
		"after all times": {[]string{"Retry-After", "99999999999999999999"}, 0, 1},
		"of AWS":          {[]string{"X-Amz-Retry-After", "2500"}, 2500 * time.Millisecond, 2},
		"shorter, of AWS": {[]string{"X-Amz-Retry-After", "20"}, time.Second, 2},
		"no number":       {[]string{"X-Amz-Retry-After", "1.5"}, time.Second, 2},
		"both":            {[]string{"X-Amz-Retry-After", "9000", "Retry-After", "7"}, 9 * time.Second, 2},
		"ages, of AWS":    {[]string{"X-Amz-Retry-After", "99999999999999999999"}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, nil, status(429, c.header...), status(200))
			want := 200
			if c.requests == 1 {
				want = 429
			}
			_, _ = s.send(t, "POST", "x", want)
			s.wantRequests(t, c.requests)
			if c.wait > 0 && (len(s.clock.waits) != 1 || s.clock.waits[0] != c.wait) {
				t.Errorf("waits %v, want %s", s.clock.waits, c.wait)
			}
		})
	}
}

// Each attempt carries the time that is left for it.
func TestDeadlinesAreSent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		caller, attempt time.Duration
		want            string
	}{
		"the caller's":  {10 * time.Second, time.Minute, "10000 9000"},
		"the attempt's": {time.Hour, 3 * time.Second, "3000 3000"},
		"no caller's":   {0, 3 * time.Second, "3000 3000"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var sent []string
			base := sender(func(r *http.Request) (*http.Response, error) {
				sent = append(sent, r.Header.Get(deadline.Header))
				code := 503
				if len(sent) == 2 {
					code = 200
				}
				return &http.Response{StatusCode: code, Header: http.Header{}, Body: http.NoBody}, nil
			})
			transport, err := httpclient.New(httpclient.Config{Base: base, AttemptTimeout: c.attempt,
				SendDeadline: true,
				Policy:       &retry.Policy{Interval: time.Second, Rate: 1, MaxAttempts: 1}})
			if err != nil {
				t.Fatal(err)
			}
			ctx := t.Context()
			if c.caller > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, c.caller)
				defer cancel()
			}
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://callee.example/", nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := transport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if got := strings.Join(sent, " "); got != c.want || len(r.Header) > 0 {
				t.Errorf("%s: sent %s, want %s; the request's own header is %v", name, got, c.want, r.Header)
			}
		})
	}
}

// sender is an http.RoundTripper in a function.
type sender func(*http.Request) (*http.Response, error)

func (s sender) RoundTrip(r *http.Request) (*http.Response, error) { return s(r) }

func TestLimiterOfAHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var transport *httpclient.Transport
		p := limiter.Standard()
		p.Initial = 1
		nested := 0
		base := sender(func(r *http.Request) (*http.Response, error) {
			if nested++; nested == 1 {
				if resp, err := transport.RoundTrip(r); !errors.Is(err, resilience.ErrLimited) {
					t.Errorf("a second request at once: %v, %v", resp, err)
				}
			}
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody}, nil
		})
		var err error
		if transport, err = httpclient.New(httpclient.Config{Base: base, Limiter: &p}); err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://callee.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := transport.RoundTrip(r)
		if err != nil || nested != 1 {
			t.Fatalf("%v after %d requests", err, nested)
		}
		resp.Body.Close()
	})
}

func TestBodiesAreSentAgain(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, status(503), status(503), status(200))
	_, _ = s.send(t, "POST", "kept while it was sent", 200)
	if want := slices.Repeat([]string{"kept while it was sent"}, 3); !slices.Equal(s.bodies, want) {
		t.Errorf("bodies %q", s.bodies)
	}
	s = serve(t, nil, status(503), status(200))
	resp, err := s.client.Post(s.url(), "text/plain", strings.NewReader("from GetBody"))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%v", err)
	}
	resp.Body.Close()
	if want := []string{"from GetBody", "from GetBody"}; !slices.Equal(s.bodies, want) {
		t.Errorf("bodies %q", s.bodies)
	}
}

func TestALongBodyIsSentOnce(t *testing.T) {
	t.Parallel()
	s := serve(t, func(s *httpclient.Config) { s.MaxBody = 10 }, status(503), status(200))
	_, _ = s.send(t, "PUT", "0123456789", 200)
	s.wantRequests(t, 2)
	s = serve(t, func(s *httpclient.Config) { s.MaxBody = 10 }, status(503), status(200))
	_, _ = s.send(t, "PUT", "0123456789a", 503)
	s.wantRequests(t, 1)
	s = serve(t, func(s *httpclient.Config) { s.MaxBody = 10 }, hangUp)
	_, err := s.send(t, "PUT", "0123456789a", 0)
	if !errors.Is(err, httpclient.ErrBodyGone) {
		t.Errorf("error is %v", err)
	}
	s.wantRequests(t, 1)
}

func TestAnUnknownOutcomeOfAPost(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]http.HandlerFunc{"500": status(500), "504": status(504)} {
		s := serve(t, nil, turn, status(200))
		_, _ = s.send(t, "POST", "x", map[string]int{"500": 500, "504": 504}[name])
		s.wantRequests(t, 1)
		s = serve(t, nil, turn, status(200))
		_, _ = s.send(t, "GET", "", 200)
		s.wantRequests(t, 2)
	}
	s := serve(t, nil, hangUp, status(200))
	_, err := s.send(t, "POST", "x", 0)
	var lost *httpclient.TransportError
	if !errors.Is(err, resilience.ErrNotIdempotent) || !errors.As(err, &lost) || !lost.Sent {
		t.Errorf("error is %v", err)
	}
	s.wantRequests(t, 1)
	s = serve(t, nil, hangUp, status(200))
	_, _ = s.send(t, "DELETE", "", 200)
	s.wantRequests(t, 2)
}

func TestIdempotencyKeys(t *testing.T) {
	t.Parallel()
	s := serve(t, func(s *httpclient.Config) { s.MakeKeys = true }, status(500), hangUp, status(200))
	_, _ = s.send(t, "POST", "x", 200)
	_, _ = s.send(t, "POST", "x", 200)
	_, _ = s.send(t, "GET", "", 200)
	_, _ = s.send(t, "PATCH", "x", 200, "Idempotency-Key", `"mine"`)
	k := s.keys
	if len(k) != 6 || k[0] != k[1] || k[1] != k[2] || k[3] == k[0] || k[4] != "" || k[5] != `"mine"` ||
		len(k[0]) != 38 ||
		k[0][0] != '"' {
		t.Errorf("keys %q", k)
	}
	s = serve(t, nil, status(500), status(200)) // the caller's own key makes it idempotent
	_, _ = s.send(t, "POST", "x", 200, "Idempotency-Key", `"mine"`)
	s.wantRequests(t, 2)
	s = serve(t, nil, status(200))
	_, _ = s.send(t, "POST", "x", 200)
	if s.keys[0] != "" {
		t.Errorf("key %q without MakeKeys", s.keys[0])
	}
}

func TestNothingWasSent(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, status(200))
	s.Close() // its port refuses connections now
	_, err := s.send(t, "POST", "x", 0)
	var e *resilience.Error
	if !errors.Is(err, resilience.ErrExhausted) || !errors.As(err, &e) || e.Attempts != 4 ||
		e.Classification.Error != retry.ConnectionTimeoutError {
		t.Errorf("error is %v (%+v)", err, e)
	}
}

func TestARequestThatIsNotFitToBeSent(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, status(200))
	for _, address := range []string{"nosuchscheme://host/", "http://"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = failed(s.transport.RoundTrip(req))
		var e *resilience.Error
		if !errors.As(err, &e) || e.Attempts != 1 {
			t.Errorf("%s: %v", address, err)
		}
	}
	if failed(s.transport.RoundTrip(&http.Request{})) == nil {
		t.Error("a request without URL was sent")
	}
}

// failed returns the error of a request that should have no response.
func failed(resp *http.Response, err error) error {
	if resp != nil {
		resp.Body.Close()
	}
	return err
}

func TestAttemptTimeout(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	var s *server
	hang := func(_ http.ResponseWriter, r *http.Request) {
		s.clock.release() // the timeout is over once the server has the request
		select {
		case <-r.Context().Done():
		case <-over:
		}
	}
	s = serve(t, func(s *httpclient.Config) { s.AttemptTimeout = time.Minute }, hang, status(200))
	s.clock.holds = true
	t.Cleanup(func() { close(over) })
	_, err := s.send(t, "POST", "x", 0)
	var timeout *resilience.TimeoutError
	var outer *url.Error
	if !errors.As(err, &timeout) || !errors.Is(err, resilience.ErrNotIdempotent) || !errors.As(err, &outer) ||
		!outer.Timeout() {
		t.Errorf("error is %v", err)
	}
	s.wantRequests(t, 1)
}

func TestTheCallersDeadline(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	s := serve(t, nil, func(_ http.ResponseWriter, r *http.Request) { <-over })
	t.Cleanup(func() { close(over) })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url(), nil)
	if err != nil {
		t.Fatal(err)
	}
	err = failed(s.client.Do(req))
	if !errors.Is(err, resilience.ErrDeadline) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v", err)
	}
}

// TestABodyIsNotCutByTheAttemptTimeout reads a body whose second half comes after the attempt's timeout.
func TestABodyIsNotCutByTheAttemptTimeout(t *testing.T) {
	t.Parallel()
	second := make(chan struct{})
	s := serve(
		t,
		func(s *httpclient.Config) { s.AttemptTimeout = time.Minute },
		func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "first ")
			w.(http.Flusher).Flush()
			<-second
			fmt.Fprint(w, "second")
		},
	)
	s.clock.holds = true
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url(), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if s.clock.release() == 0 {
		t.Error("the attempt has no timeout")
	}
	close(second)
	if body, err := io.ReadAll(resp.Body); string(body) != "first second" || err != nil {
		t.Errorf("body %q, %v", body, err)
	}
}

// TestAServerThatStallsInABody gets 503 responses whose bodies never end.
func TestAServerThatStallsInABody(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	s := serve(t, nil, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		w.(http.Flusher).Flush()
		select {
		case <-over:
		case <-r.Context().Done():
		}
	}, status(200))
	t.Cleanup(func() { close(over) })
	s.transport.SetPatience(10 * time.Millisecond)
	_, _ = s.send(t, "GET", "", 200)
	s.wantRequests(t, 2)
}

func TestEachHostHasItsOwnCircuit(t *testing.T) {
	t.Parallel()
	circuit := breaker.Policy{
		ConsecutiveFailures: 1,
		OpenFor:             time.Hour,
		SuccessThreshold:    1,
		HalfOpenConcurrency: 1,
		ProbeTimeout:        time.Hour,
	}
	s := serve(t, func(s *httpclient.Config) {
		s.Breaker, s.Policy = &circuit, &retry.Policy{}
		s.Bulkhead = &resilience.BulkheadConfig{Concurrent: 10}
	}, status(503), status(200))
	_, _ = s.send(t, "GET", "", 503)
	_, err := s.send(t, "GET", "", 0)
	if !errors.Is(err, resilience.ErrCircuitOpen) {
		t.Errorf("error is %v", err)
	}
	s.wantRequests(t, 1)
	other := strings.Replace(s.url(), "127.0.0.1", "localhost", 1)
	resp, err := s.client.Get(other)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK || len(s.transport.Statistics()) != 2 {
		t.Errorf("status %d, %d hosts", resp.StatusCode, len(s.transport.Statistics()))
	}
}

func TestHostsAreForgotten(t *testing.T) {
	t.Parallel()
	answer := roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
	})
	transport, err := httpclient.New(httpclient.Config{Base: answer, MaxHosts: 3})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://host%d/", i), nil)
		if resp, err := transport.RoundTrip(req); err != nil {
			t.Fatal(err)
		} else {
			resp.Body.Close()
		}
	}
	if got := len(transport.Statistics()); got != 3 {
		t.Errorf("%d hosts are remembered, want 3", got)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestWrongSettings(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]httpclient.Config{
		"policy":   {Policy: &retry.Policy{MaxAttempts: -1}},
		"timeout":  {AttemptTimeout: -1},
		"breaker":  {Breaker: &breaker.Policy{}},
		"bulkhead": {Bulkhead: &resilience.BulkheadConfig{}},
		"hosts":    {MaxHosts: -1},
		"budget":   {Budget: func(string) (resilience.Budget, error) { return nil, io.EOF }},
	} {
		if _, err := httpclient.New(s); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestUpgrades(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, func(w http.ResponseWriter, _ *http.Request) {
		conn, stream, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		fmt.Fprint(stream, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		_ = stream.Flush()
		line, _ := stream.ReadString('\n')
		fmt.Fprint(stream, line)
		_ = stream.Flush()
	})
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url(), nil)
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "echo")
	resp, err := s.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	fmt.Fprint(resp.Body.(io.ReadWriteCloser), "hello\n")
	if line, err := bufio.NewReader(resp.Body).ReadString('\n'); line != "hello\n" {
		t.Errorf("%q, %v", line, err)
	}
}

// TestManyAtOnce sends bodies of different kinds to a server that fails two times in three.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	s := serve(t, nil, func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1)%3 != 0 {
			status(503)(w, r)
			return
		}
		status(200)(w, r)
	})
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for j := range 5 {
				body := fmt.Sprint(i, "/", j, strings.Repeat("x", 3000))
				req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url(),
					io.MultiReader(bytes.NewBufferString(body)))
				resp, err := s.client.Do(req)
				if err != nil {
					t.Error(err)
					return
				}
				resp.Body.Close()
			}
		})
	}
	all.Wait()
	for _, body := range s.bodies {
		if !strings.HasSuffix(body, strings.Repeat("x", 3000)) {
			t.Errorf("a body was cut: %d bytes", len(body))
		}
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	answer := roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
	})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	b.Cleanup(server.Close)
	circuit := breaker.Callee()
	for name, base := range map[string]http.RoundTripper{"nothing": answer, "http.Transport": http.DefaultTransport} {
		protected, err := httpclient.New(
			httpclient.Config{Base: base, Breaker: &circuit, Bulkhead: &resilience.BulkheadConfig{Concurrent: 10}})
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range []struct {
			name string
			http.RoundTripper
		}{{"bare", base}, {"protected", protected}} {
			b.Run(name+"/"+c.name, func(b *testing.B) {
				req, _ := http.NewRequestWithContext(b.Context(), http.MethodGet, server.URL, nil)
				b.ReportAllocs()
				for b.Loop() {
					resp, err := c.RoundTrip(req)
					if err != nil {
						b.Fatal(err)
					}
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
			})
		}
	}
}

// TestABodyThatIsStillSentWhenTheResponseComes has a server that responds before the request's body has ended, as in
// a bidirectional exchange.
func TestABodyThatIsStillSentWhenTheResponseComes(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		_, _ = io.Copy(w, r.Body)
	}))
	t.Cleanup(server.Close)
	transport, err := httpclient.New(httpclient.Config{Base: &http.Transport{DisableKeepAlives: true},
		Policy: &three})
	if err != nil {
		t.Fatal(err)
	}
	body, say := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	fmt.Fprint(say, "only now")
	say.Close()
	if echo, err := io.ReadAll(resp.Body); string(echo) != "only now" {
		t.Errorf("%q, %v", echo, err)
	}
}

// TestHedgedRequests hangs the first request; the second one's response is returned whole.
func TestHedgedRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var requests, cancelled atomic.Int32
		base := roundTripper(func(r *http.Request) (*http.Response, error) {
			if requests.Add(1) == 1 {
				<-r.Context().Done()
				cancelled.Add(1)
				return nil, r.Context().Err()
			}
			text := &underContext{strings.NewReader("the body"), r.Context()}
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(text), Request: r}, nil
		})
		transport, err := httpclient.New(httpclient.Config{
			Base: base, Policy: &three, Options: []resilience.Option{resilience.WithHedge(time.Second, 1)},
		})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.com/", nil)
		resp, err := transport.RoundTrip(req)
		if err != nil || time.Since(began) != time.Second || cancelled.Load() != 1 {
			t.Fatalf("%v after %s", err, time.Since(began))
		}
		time.Sleep(time.Hour) //nolint:forbidigo // virtual time: the attempt's timeout has passed long ago
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if string(body) != "the body" || err != nil {
			t.Errorf("%q, %v", body, err)
		}
		post, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.com/", nil)
		// not hedged, and answered immediately
		if resp, err = transport.RoundTrip(post); err != nil || requests.Load() != 3 {
			t.Errorf("%v, %d requests", err, requests.Load())
		} else {
			resp.Body.Close()
		}
	})
}

// underContext fails when its context has ended, like the body of a real response.
type underContext struct {
	io.Reader
	ctx context.Context
}

func (u *underContext) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Reader.Read(p)
}
