package resilience_test

import (
	"context"
	"testing"
	"time"

	"stepback/adaptive/breaker"
	"stepback/resilience"
	"stepback/retrypatterns"
)

func always[T any](v T) func(context.Context) (T, error) {
	return func(context.Context) (T, error) { return v, nil }
}

// BenchmarkBare measures the lower bound: the operation called through a func value.
func BenchmarkBare(b *testing.B) {
	op := always(1)
	for b.Loop() {
		_, _ = op(b.Context())
	}
}

func BenchmarkExecute(b *testing.B) {
	bulkhead, err := resilience.NewBulkhead(resilience.BulkheadConfig{Concurrent: 10})
	if err != nil {
		b.Fatal(err)
	}
	circuit, err := breaker.New(breaker.Config{Policy: breaker.Callee()})
	if err != nil {
		b.Fatal(err)
	}
	pattern, _ := retrypatterns.PatternNamed(retrypatterns.Aggressive)
	for name, options := range map[string][]resilience.Option{
		"retry":         {},
		"retry+timeout": {resilience.WithAttemptTimeout(time.Second)},
		"retry+breaker+bulkhead+timeout": {resilience.WithAttemptTimeout(time.Second), resilience.WithBulkhead(bulkhead),
			resilience.WithBreaker(circuit)},
	} {
		b.Run(name, func(b *testing.B) {
			e, err := resilience.New(pattern.Policy, options...)
			if err != nil {
				b.Fatal(err)
			}
			ctx, op := context.Background(), always(1)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = resilience.Execute(ctx, e, op)
			}
		})
	}
}
