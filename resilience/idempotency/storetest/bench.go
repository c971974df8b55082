package storetest

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"stepback/resilience/idempotency"
)

// Requests measures b.N whole requests of 16 clients at once, each under a key of its own, and then the same keys again,
// whose answers are known.
func Requests(b *testing.B, g *idempotency.Guard) {
	b.Helper()
	answer := idempotency.Answer{Status: 201, Header: map[string][]string{"Location": {"/orders/1"}}, Body: make([]byte, 200)}
	print := make([]byte, 32)
	for _, replayed := range []bool{false, true} {
		var next atomic.Int64
		var clients sync.WaitGroup
		b.ResetTimer()
		for range 16 {
			clients.Go(func() {
				for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
					result, err := g.Once(b.Context(), strconv.FormatInt(n, 10), print, func(context.Context) (idempotency.Answer, bool, error) {
						return answer, true, nil
					})
					if err != nil || result.Replayed != replayed {
						b.Errorf("%+v, %v", result, err)
						return
					}
				}
			})
		}
		clients.Wait()
		name := "first/s"
		if replayed {
			name = "replayed/s"
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), name)
	}
}
