package resilience_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/avast/retry-go/v5"
	"github.com/cenkalti/backoff/v5"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/failsafehttp"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/failsafe-go/failsafe-go/timeout"
	"github.com/hashicorp/go-retryablehttp"
	"github.com/sony/gobreaker/v2"

	"stepback/adaptive/breaker"
	"stepback/resilience"
	"stepback/resilience/httpclient"
)

// BenchmarkRetry measures a call that succeeds at once, through a retry alone.
func BenchmarkRetry(b *testing.B) {
	ctx := context.Background()
	op := func(context.Context) (int, error) { return 1, nil }
	b.Run("bare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = op(ctx)
		}
	})
	b.Run("stepback", func(b *testing.B) {
		e, err := resilience.New(three)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			_, _ = resilience.Execute(ctx, e, op)
		}
	})
	b.Run("failsafe-go", func(b *testing.B) {
		e := failsafe.With[int](retrypolicy.NewBuilder[int]().WithMaxRetries(3).Build())
		b.ReportAllocs()
		for b.Loop() {
			_, _ = e.WithContext(ctx).Get(func() (int, error) { return op(ctx) })
		}
	})
	b.Run("cenkalti", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = backoff.Retry(ctx, func() (int, error) { return op(ctx) }, backoff.WithMaxTries(4))
		}
	})
	b.Run("avast", func(b *testing.B) {
		r := retry.NewWithData[int](retry.Context(ctx), retry.Attempts(4))
		b.ReportAllocs()
		for b.Loop() {
			_, _ = r.Do(func() (int, error) { return op(ctx) })
		}
	})
}

// BenchmarkBreaker measures a call that succeeds at once, through a closed circuit breaker alone.
func BenchmarkBreaker(b *testing.B) {
	ctx := context.Background()
	op := func(context.Context) (int, error) { return 1, nil }
	b.Run("stepback", func(b *testing.B) {
		c, err := breaker.New(breaker.Config{Policy: breaker.Conservative()})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			_, _ = breaker.Do(ctx, c, breaker.Call[int]{Run: op})
		}
	})
	b.Run("failsafe-go", func(b *testing.B) {
		e := failsafe.With[int](circuitbreaker.NewBuilder[int]().WithFailureThreshold(5).Build())
		b.ReportAllocs()
		for b.Loop() {
			_, _ = e.WithContext(ctx).Get(func() (int, error) { return op(ctx) })
		}
	})
	b.Run("gobreaker", func(b *testing.B) {
		c := gobreaker.NewCircuitBreaker[int](gobreaker.Settings{})
		b.ReportAllocs()
		for b.Loop() {
			_, _ = c.Execute(func() (int, error) { return op(ctx) })
		}
	})
}

// BenchmarkAll measures a call that succeeds at once, through bulkhead, breaker, retry and attempt timeout.
func BenchmarkAll(b *testing.B) {
	ctx := context.Background()
	op := func(context.Context) (int, error) { return 1, nil }
	b.Run("stepback", func(b *testing.B) {
		room, err := resilience.NewBulkhead(resilience.BulkheadConfig{Concurrent: 10})
		if err != nil {
			b.Fatal(err)
		}
		circuit, err := breaker.New(breaker.Config{Policy: breaker.Conservative()})
		if err != nil {
			b.Fatal(err)
		}
		e, err := resilience.New(three, resilience.WithAttemptTimeout(time.Second), resilience.WithBulkhead(room),
			resilience.WithBreaker(circuit))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			_, _ = resilience.Execute(ctx, e, op)
		}
	})
	b.Run("failsafe-go", func(b *testing.B) {
		e := failsafe.With[int](bulkhead.New[int](10), circuitbreaker.NewBuilder[int]().WithFailureThreshold(5).Build(),
			retrypolicy.NewBuilder[int]().WithMaxRetries(3).Build(), timeout.New[int](time.Second))
		b.ReportAllocs()
		for b.Loop() {
			_, _ = e.WithContext(ctx).GetWithExecution(func(x failsafe.Execution[int]) (int, error) {
				return op(x.Context())
			})
		}
	})
}

// instant is a transport that responds without a network.
type instant struct{}

func (instant) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("ok")), Request: r}, nil
}

// BenchmarkHTTP measures a request that is answered at once, on a transport without a network.
func BenchmarkHTTP(b *testing.B) {
	ours, err := httpclient.New(httpclient.Config{Base: instant{}, Policy: &three})
	if err != nil {
		b.Fatal(err)
	}
	c := retryablehttp.NewClient()
	c.HTTPClient, c.Logger, c.RetryMax = &http.Client{Transport: instant{}}, nil, 3
	for _, t := range []struct {
		name      string
		transport http.RoundTripper
	}{
		{"bare", instant{}}, {"stepback", ours},
		{"failsafe-go", failsafehttp.NewRoundTripper(instant{}, failsafehttp.NewRetryPolicyBuilder().Build())},
		{"go-retryablehttp", &retryablehttp.RoundTripper{Client: c}},
	} {
		b.Run(t.name, func(b *testing.B) {
			req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://example.com/", nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				resp, err := t.transport.RoundTrip(req)
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
}
