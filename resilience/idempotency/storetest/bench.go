package storetest

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stepback/resilience/idempotency"
)

// Requests measures b.N requests of 16 concurrent clients, each under its own key. Then it repeats the same keys,
// for which the answers are stored. It reports requests per second as first/s and replayed/s.
func Requests(b *testing.B, g *idempotency.Guard) {
	b.Helper()
	b.ResetTimer()
	first := requests(b, g, false)
	replayed := requests(b, g, true)
	b.ReportMetric(first, "first/s")
	b.ReportMetric(replayed, "replayed/s")
}

func requests(b *testing.B, g *idempotency.Guard, replayed bool) float64 {
	b.Helper()
	answer := idempotency.Answer{
		Status: 201,
		Header: map[string][]string{"Location": {"/orders/1"}},
		Body:   make([]byte, 200),
	}
	fingerprint := make([]byte, 32)
	var next atomic.Int64
	var clients sync.WaitGroup
	began := time.Now()
	for range 16 {
		clients.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				result, err := g.Once(b.Context(), strconv.FormatInt(n, 10), fingerprint,
					func(context.Context) (idempotency.Answer, bool, error) { return answer, true, nil })
				if err != nil || result.Replayed != replayed {
					b.Errorf("%+v, %v", result, err)
					return
				}
			}
		})
	}
	clients.Wait()
	return float64(b.N) / time.Since(began).Seconds()
}
