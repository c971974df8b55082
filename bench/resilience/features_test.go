package resilience_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/avast/retry-go/v5"
	"github.com/cenkalti/backoff/v5"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/budget"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/failsafehttp"
	"github.com/failsafe-go/failsafe-go/hedgepolicy"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/hashicorp/go-retryablehttp"
	"github.com/sony/gobreaker/v2"

	"stepback/adaptive/breaker"
	ours "stepback/adaptive/budget"
	"stepback/resilience"
	"stepback/resilience/httpclient"
	stepretry "stepback/retry"
	"stepback/retrypatterns"
)

// The columns. "HTTP" rows of failsafe-go are tried with its failsafehttp, those of stepback with httpclient.
var libraries = []string{"stepback", "failsafe-go 0.9.8", "cenkalti/backoff 5.0.3", "avast/retry-go 5.1.1",
	"go-retryablehttp 0.7.8", "gobreaker 2.4.0"}

// The result of a try: the library has the feature, behaves differently, or has no such mechanism.
const (
	yes  = "yes"
	no   = "no"
	none = "–"
)

// feature is a row: the observed behaviour of each library, in the order of the columns. A nil try means that there
// is no such mechanism.
type feature struct {
	what  string
	tries [6]func(t *testing.T) bool
	want  [6]string
}

// three is a policy of 1 s, 2 s, 4 s.
var three = stepretry.Policy{Interval: time.Second, Rate: 2, MaxAttempts: 3}

// stateError is an SQLSTATE error of a database driver.
type stateError string

func (s stateError) Error() string    { return "SQLSTATE " + string(s) }
func (s stateError) SQLState() string { return string(s) }

// generic is the retry of a library with its own rules about which errors to retry: it runs op until it gives up.
type generic func(ctx context.Context, op func() error) error

var retriers = [4]generic{
	func(ctx context.Context, op func() error) error {
		_, err := resilience.Do(ctx, func(context.Context) (int, error) { return 0, op() }, three)
		return err
	},
	func(ctx context.Context, op func() error) error {
		return failsafe.With[any](retrypolicy.NewBuilder[any]().WithMaxRetries(3).WithBackoff(time.Second,
			8*time.Second).Build()).
			WithContext(ctx).Run(op)
	},
	func(ctx context.Context, op func() error) error {
		b := &backoff.ExponentialBackOff{InitialInterval: time.Second, Multiplier: 2, MaxInterval: 8 * time.Second}
		_, err := backoff.Retry(ctx, func() (int, error) { return 0, op() }, backoff.WithBackOff(b),
			backoff.WithMaxTries(4))
		return err
	},
	func(ctx context.Context, op func() error) error {
		return retry.New(retry.Context(ctx), retry.Attempts(4), retry.Delay(time.Second),
			retry.DelayType(retry.BackOffDelay)).Do(op)
	},
}

// counted runs a retrier and returns the number of calls and the elapsed time.
func counted(ctx context.Context, r generic, err error) (calls int, took time.Duration) {
	began := time.Now()
	_ = r(ctx, func() error { calls++; return err })
	return calls, time.Since(began)
}

// eachRetrier tries all four retriers in a bubble of virtual time.
func eachRetrier(try func(t *testing.T, r generic) bool) (tries [6]func(*testing.T) bool) {
	for i, r := range retriers {
		tries[i] = func(t *testing.T) bool { return try(t, r) }
	}
	return tries
}

// answers is a server without a network: it gives its responses in turn, repeats the last one for ever, and records
// the requests.
type answers struct {
	turns  []*http.Response
	err    error // instead of a response
	bodies []string
	keys   []string
	at     []time.Time
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		b, _ := io.ReadAll(r.Body)
		r.Body.Close()
		body = string(b)
	}
	a.bodies, a.keys, a.at = append(a.bodies, body), append(a.keys, r.Header.Get("Idempotency-Key")),
		append(a.at, time.Now())
	if a.err != nil {
		return nil, a.err
	}
	out := *a.turns[min(len(a.at), len(a.turns))-1]
	out.Body = io.NopCloser(strings.NewReader("body"))
	out.Request = r
	return &out, nil
}

func answer(status int, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h}
}

// clients contains the HTTP clients of three libraries, connected to a server, in the columns 0, 1 and 4.
var clients = map[int]func(t *testing.T, a *answers) *http.Client{
	0: func(t *testing.T, a *answers) *http.Client {
		transport, err := httpclient.New(httpclient.Config{Base: a, Policy: &three})
		if err != nil {
			t.Fatal(err)
		}
		return &http.Client{Transport: transport}
	},
	1: func(_ *testing.T, a *answers) *http.Client {
		return &http.Client{Transport: failsafehttp.NewRoundTripper(a,
			failsafehttp.NewRetryPolicyBuilder().WithMaxRetries(3).
				WithBackoff(time.Second, 8*time.Second).Build())}
	},
	4: func(_ *testing.T, a *answers) *http.Client {
		c := retryablehttp.NewClient()
		c.HTTPClient, c.Logger, c.RetryMax = &http.Client{Transport: a}, nil, 3
		return c.StandardClient()
	},
}

// eachClient tries all three clients.
func eachClient(try func(t *testing.T, c *http.Client, a *answers) bool,
	turns ...*http.Response) (tries [6]func(*testing.T) bool) {
	for i, c := range clients {
		tries[i] = func(t *testing.T) bool {
			a := &answers{turns: turns}
			return try(t, c(t, a), a)
		}
	}
	return tries
}

// send sends a request whose body can be read only once.
func send(t *testing.T, c *http.Client, method, body string) (*http.Response, error) {
	t.Helper()
	var r io.Reader
	if body != "" {
		r = io.MultiReader(strings.NewReader(body))
	}
	req, err := http.NewRequestWithContext(t.Context(), method, "http://example.com/", r)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err == nil {
		t.Cleanup(func() { resp.Body.Close() })
	}
	return resp, err
}

func both(own, failsafe func(t *testing.T) bool) (tries [6]func(*testing.T) bool) {
	tries[0], tries[1] = own, failsafe
	return tries
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

var features = []feature{
	{
		"repeats a transient error after growing waits",
		eachRetrier(func(t *testing.T, r generic) bool {
			calls, took := counted(t.Context(), r, syscall.ECONNREFUSED)
			return calls == 4 && took >= 5*time.Second
		}),
		[6]string{yes, yes, yes, yes, none, none},
	},
	{
		"by default, does not repeat a permanent error (SQLSTATE 23505)",
		eachRetrier(func(t *testing.T, r generic) bool {
			calls, _ := counted(t.Context(), r, stateError("23505"))
			return calls == 1
		}),
		[6]string{yes, no, no, no, none, none},
	},
	{
		"by default, does not repeat an unknown outcome (ECONNRESET)",
		eachRetrier(func(t *testing.T, r generic) bool {
			calls, _ := counted(t.Context(), r, syscall.ECONNRESET)
			return calls == 1
		}),
		[6]string{yes, no, no, no, none, none},
	},
	{
		"ends a wait when the context is cancelled",
		eachRetrier(func(t *testing.T, r generic) bool {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			time.AfterFunc(500*time.Millisecond, cancel)
			calls, took := counted(ctx, r, syscall.ECONNREFUSED)
			return calls == 1 && took == 500*time.Millisecond
		}),
		[6]string{yes, yes, yes, yes, none, none},
	},
	{
		"gives up at once if the next attempt would be past the deadline",
		eachRetrier(func(t *testing.T, r generic) bool {
			ctx, cancel := context.WithTimeout(t.Context(), 900*time.Millisecond)
			defer cancel()
			_, took := counted(ctx, r, syscall.ECONNREFUSED)
			return took < 400*time.Millisecond
		}),
		[6]string{yes, no, no, no, none, none},
	},
	{
		"errors.Is matches both the last error and that no retry was left",
		eachRetrier(func(t *testing.T, r generic) bool {
			err := r(t.Context(), func() error { return syscall.ECONNREFUSED })
			return errors.Is(err, syscall.ECONNREFUSED) &&
				(errors.Is(err, resilience.ErrExhausted) || errors.Is(err, retrypolicy.ErrExceeded))
		}),
		[6]string{yes, yes, no, no, none, none},
	},
	{
		"a panic in the operation releases its place in the bulkhead",
		both(func(t *testing.T) bool {
			b := must(resilience.NewBulkhead(resilience.BulkheadConfig{Concurrent: 1}))(t)
			e := must(resilience.New(three, resilience.WithBulkhead(b)))(t)
			recovered(func() { _ = e.Run(t.Context(), func(context.Context) error { panic("boom") }) })
			return e.Run(t.Context(), func(context.Context) error { return nil }) == nil
		}, func(*testing.T) bool {
			e := failsafe.With[any](bulkhead.New[any](1))
			recovered(func() { _ = e.Run(func() error { panic("boom") }) })
			return e.Run(func() error { return nil }) == nil
		}),
		[6]string{yes, no, none, none, none, none},
	},
	{
		"after a panic in a half-open breaker's probe, the next probe is let through",
		[6]func(*testing.T) bool{
			0: func(t *testing.T) bool {
				b := must(breaker.New(breaker.Config{Policy: breaker.Policy{
					ConsecutiveFailures: 1, OpenFor: time.Minute, SuccessThreshold: 1, HalfOpenConcurrency: 1,
					ProbeTimeout: time.Hour,
				}}))(t)
				e := must(resilience.New(stepretry.Policy{}, resilience.WithBreaker(b)))(t)
				return probes(func(op func() error) error {
					return e.Run(t.Context(), func(context.Context) error { return op() })
				})
			},
			1: func(*testing.T) bool {
				b := circuitbreaker.NewBuilder[any]().WithFailureThreshold(1).WithSuccessThreshold(1).WithDelay(time.Minute).Build()
				return probes(failsafe.With[any](b).Run)
			},
			5: func(*testing.T) bool {
				b := gobreaker.NewCircuitBreaker[any](gobreaker.Settings{
					MaxRequests: 1, Timeout: time.Minute,
					ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= 1 },
				})
				return probes(func(op func() error) error {
					_, err := b.Execute(func() (any, error) { return nil, op() })
					return err
				})
			},
		},
		[6]string{yes, no, none, none, none, yes},
	},
	{
		"by default, a caller's own permanent error does not open the breaker",
		[6]func(*testing.T) bool{
			0: func(t *testing.T) bool {
				e := must(resilience.New(stepretry.Policy{},
					resilience.WithBreaker(must(breaker.New(breaker.Config{Policy: breaker.Conservative()}))(t))))(t)
				return stays(func(op func() error) error {
					return e.Run(t.Context(), func(context.Context) error { return op() })
				})
			},
			1: func(*testing.T) bool {
				return stays(failsafe.With[any](circuitbreaker.NewBuilder[any]().WithFailureThreshold(5).Build()).Run)
			},
			5: func(*testing.T) bool {
				b := gobreaker.NewCircuitBreaker[any](gobreaker.Settings{})
				return stays(func(op func() error) error {
					_, err := b.Execute(func() (any, error) { return nil, op() })
					return err
				})
			},
		},
		[6]string{yes, no, none, none, none, no},
	},
	{
		"a bulkhead whose queue has a maximum length",
		both(func(t *testing.T) bool {
			b := must(resilience.NewBulkhead(resilience.BulkheadConfig{Concurrent: 1, Queue: 1,
				QueueTimeout: time.Hour}))(t)
			e := must(resilience.New(three, resilience.WithBulkhead(b)))(t)
			return queues(func(op func() error) error {
				return e.Run(t.Context(), func(context.Context) error { return op() })
			}) == 1
		}, func(*testing.T) bool {
			e := failsafe.With[any](bulkhead.NewBuilder[any](1).WithMaxWaitTime(time.Hour).Build())
			return queues(e.Run) == 1
		}),
		[6]string{yes, no, none, none, none, none},
	},
	{
		"retry budget: 1,000 simultaneous calls to a service that is down make at most 1,500 requests",
		[6]func(*testing.T) bool{
			0: func(t *testing.T) bool {
				b := must(ours.New(ours.Config{Policy: ours.Finagle()}))(t)
				e := must(resilience.New(three, resilience.WithBudget(b)))(t)
				return storm(func(op func() error) error {
					return e.Run(t.Context(), func(context.Context) error { return op() })
				})
			},
			1: func(*testing.T) bool {
				e := failsafe.With[any](retrypolicy.NewBuilder[any]().WithMaxRetries(3).
					WithBackoff(time.Second, 8*time.Second).WithBudget(budget.New()).Build())
				return storm(e.Run)
			},
			3: func(*testing.T) bool {
				r := retry.New(retry.Attempts(4), retry.Delay(time.Millisecond),
					retry.WithFixedTokenBucketThrottle(retry.FixedTokenBucketThrottleConfig{}))
				return storm(func(op func() error) error { return r.Do(op) })
			},
		},
		[6]string{yes, yes, none, yes, none, none},
	},
	{
		"hedges",
		both(func(t *testing.T) bool { first, _ := hedge(t, ourHedge(t)); return first == time.Second },
			func(t *testing.T) bool { first, _ := hedge(t, failsafeHedge); return first == time.Second }),
		[6]string{yes, yes, none, none, none, none},
	},
	{
		"a losing hedge has ended when the call returns",
		both(func(t *testing.T) bool { _, running := hedge(t, ourHedge(t)); return running == 0 },
			func(t *testing.T) bool { _, running := hedge(t, failsafeHedge); return running == 0 }),
		[6]string{yes, no, none, none, none, none},
	},
	{
		"HTTP: repeats 503",
		eachClient(func(t *testing.T, c *http.Client, a *answers) bool {
			resp, err := send(t, c, "GET", "")
			return err == nil && resp.StatusCode == 200 && len(a.at) == 2
		}, answer(503), answer(200)),
		[6]string{yes, yes, none, none, yes, none},
	},
	{
		"HTTP: sends a streamed body again",
		eachClient(func(t *testing.T, c *http.Client, a *answers) bool {
			_, err := send(t, c, "PUT", "tea")
			return err == nil && slices.Equal(a.bodies, []string{"tea", "tea"})
		}, answer(503), answer(200)),
		[6]string{yes, yes, none, none, yes, none},
	},
	{
		"HTTP: waits as long as Retry-After says in seconds",
		eachClient(func(t *testing.T, c *http.Client, a *answers) bool {
			_, err := send(t, c, "GET", "")
			return err == nil && len(a.at) == 2 && a.at[1].Sub(a.at[0]) == 20*time.Second
		}, answer(429, "Retry-After", "20"), answer(200)),
		[6]string{yes, yes, none, none, yes, none},
	},
	{
		"HTTP: waits until the date that Retry-After names",
		eachClient(func(t *testing.T, c *http.Client, a *answers) bool {
			a.turns = []*http.Response{answer(503, "Retry-After",
				time.Now().Add(20*time.Second).UTC().Format(http.TimeFormat)), answer(200)}
			_, err := send(t, c, "GET", "")
			return err == nil && len(a.at) == 2 && a.at[1].Sub(a.at[0]) == 20*time.Second
		}),
		[6]string{yes, no, none, none, yes, none},
	},
	{
		"HTTP: does not wait for a year, even if Retry-After says so",
		eachClient(func(t *testing.T, c *http.Client, _ *answers) bool {
			began := time.Now()
			_, _ = send(t, c, "GET", "")
			return time.Since(began) < time.Hour
		}, answer(503, "Retry-After", "31536000"), answer(200)),
		[6]string{yes, no, none, none, no, none},
	},
	{
		"HTTP: does not repeat a POST that the server answered with 500",
		eachClient(func(t *testing.T, c *http.Client, a *answers) bool {
			_, _ = send(t, c, "POST", "tea")
			return len(a.at) == 1
		}, answer(500), answer(200)),
		[6]string{yes, no, none, none, no, none},
	},
	{
		"HTTP: returns the last response when no attempt is left",
		eachClient(func(t *testing.T, c *http.Client, _ *answers) bool {
			resp, err := send(t, c, "GET", "")
			if err != nil {
				return false
			}
			body, err := io.ReadAll(resp.Body)
			return resp.StatusCode == 503 && string(body) == "body" && err == nil
		}, answer(503)),
		[6]string{yes, no, none, none, no, none},
	},
	{
		"HTTP: an Idempotency-Key, generated once per call and kept for all its attempts",
		[6]func(*testing.T) bool{0: func(t *testing.T) bool {
			a := &answers{turns: []*http.Response{answer(500), answer(200)}}
			transport := must(httpclient.New(httpclient.Config{Base: a, Policy: &three, MakeKeys: true}))(t)
			_, err := send(t, &http.Client{Transport: transport}, "POST", "tea")
			return err == nil && len(a.keys) == 2 && a.keys[0] != "" && a.keys[0] == a.keys[1]
		}},
		[6]string{yes, none, none, none, none, none},
	},
	{
		"each kind of error has its own retry policy and its own count",
		[6]func(*testing.T) bool{0: func(t *testing.T) bool {
			e := must(resilience.NewWithRules(retrypatterns.Rules()))(t)
			calls := 0
			began := time.Now()
			_ = e.Run(t.Context(), func(context.Context) error {
				if calls++; calls%2 == 1 { // 5 retries of the first kind, 4 of the second
					return resilience.Mark(io.EOF, stepretry.Transient, stepretry.ServiceUnavailableError)
				}
				return resilience.Mark(io.EOF, stepretry.Transient, stepretry.AuroraTemporaryError)
			})
			return calls == 10 && time.Since(began) > 0
		}},
		[6]string{yes, none, none, none, none, none},
	},
}

func recovered(f func()) {
	defer func() { _ = recover() }()
	f()
}

// probes opens a breaker, lets its first probe panic, and reports whether the next probe closes it.
func probes(run func(op func() error) error) bool {
	_ = run(func() error { return syscall.ECONNREFUSED })
	time.Sleep(61 * time.Second)
	recovered(func() { _ = run(func() error { panic("boom") }) })
	time.Sleep(61 * time.Second)
	return run(func() error { return nil }) == nil
}

// stays reports whether a breaker stays closed after many errors that show that the callee works.
func stays(run func(op func() error) error) bool {
	for range 100 {
		_ = run(func() error { return stateError("23505") })
	}
	return run(func() error { return nil }) == nil
}

// queues starts ten callers of a bulkhead of one, and counts those that wait.
func queues(run func(op func() error) error) int {
	release := make(chan struct{})
	var refused atomic.Int32
	for range 10 {
		go func() {
			if run(func() error { <-release; return nil }) != nil {
				refused.Add(1)
			}
		}()
		synctest.Wait()
	}
	waiting := 10 - 1 - int(refused.Load())
	close(release)
	synctest.Wait()
	return waiting
}

// storm starts 1,000 concurrent callers of a service that is down, and reports whether a budget limits the requests.
func storm(run func(op func() error) error) bool {
	var requests atomic.Int32
	var callers sync.WaitGroup
	for range 1000 {
		callers.Go(func() {
			_ = run(func() error {
				requests.Add(1)
				time.Sleep(100 * time.Millisecond)
				return syscall.ECONNREFUSED
			})
		})
	}
	callers.Wait()
	return requests.Load() <= 1500
}

func ourHedge(t *testing.T) func(func(context.Context) error) error {
	e := must(resilience.New(stepretry.Policy{}, resilience.WithIdempotent(), resilience.WithHedge(time.Second, 1)))(t)
	return func(op func(context.Context) error) error { return e.Run(t.Context(), op) }
}

func failsafeHedge(op func(context.Context) error) error {
	return failsafe.With[any](hedgepolicy.NewWithDelay[any](time.Second)).
		RunWithExecution(func(e failsafe.Execution[any]) error { return op(e.Context()) })
}

// hedge runs a first operation that hangs and reacts slowly to its cancellation. It returns when the call returned,
// and how many other operations were still running then.
func hedge(t *testing.T, run func(func(context.Context) error) error) (time.Duration, int32) {
	t.Helper()
	var started, running atomic.Int32
	began := time.Now()
	var answered time.Duration
	_ = run(func(ctx context.Context) error {
		running.Add(1)
		defer running.Add(-1)
		if started.Add(1) == 1 {
			<-ctx.Done()
			time.Sleep(time.Millisecond)
			return ctx.Err()
		}
		answered = time.Since(began)
		return nil
	})
	left := running.Load()
	time.Sleep(time.Second)
	return answered, left
}

var update = flag.Bool("update", false, "write the table into docs/resilience.md instead of comparing with it")

// All features have the results in the table of docs/resilience.md.
func TestFeatures(t *testing.T) {
	var table strings.Builder
	fmt.Fprintf(&table, "| | %s |\n|---%s|\n", strings.Join(libraries, " | "), strings.Repeat("|---", len(libraries)))
	for _, f := range features {
		var found [6]string
		for i, try := range f.tries {
			found[i] = none
			if try == nil {
				continue
			}
			t.Run(f.what+"/"+libraries[i], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					if found[i] = no; try(t) {
						found[i] = yes
					}
				})
				if found[i] != f.want[i] {
					t.Errorf("seen %q, expected %q", found[i], f.want[i])
				}
			})
		}
		fmt.Fprintf(&table, "| %s | %s |\n", f.what, strings.Join(found[:], " | "))
	}
	const page, begin, end = "../../docs/resilience.md", "<!-- features -->\n", "<!-- /features -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	old, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", page)
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+begin+table.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if old != table.String() {
		t.Errorf("the table of %s is out of date: go test -run TestFeatures -update .", page)
	}
}
