package resilienceprom_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"stepback/adaptive/breaker"
	"stepback/resilience"
	"stepback/resilience/resilienceprom"
	"stepback/retry"
)

func TestCollector(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, err := breaker.New(breaker.Config{Policy: breaker.Conservative()})
		if err != nil {
			t.Fatal(err)
		}
		bulkhead, err := resilience.NewBulkhead(resilience.BulkheadConfig{Concurrent: 1})
		if err != nil {
			t.Fatal(err)
		}
		policy := retry.Policy{Interval: time.Second, Rate: 2, MaxAttempts: 1}
		e, err := resilience.New(policy, resilience.WithName("payments"), resilience.WithBreaker(b),
			resilience.WithBulkhead(bulkhead))
		if err != nil {
			t.Fatal(err)
		}
		down := resilience.Mark(errors.New("503"), retry.Transient, retry.ServiceUnavailableError)
		for _, failures := range []int{0, 1, 2} {
			_ = e.Run(t.Context(), func(context.Context) error {
				if failures--; failures >= 0 {
					return down
				}
				return nil
			})
		}
		b.Trip()
		_ = e.Run(t.Context(), func(context.Context) error { return nil })
		c := resilienceprom.NewCollector()
		c.Add(e)
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(c)
		want := `
# HELP resilience_attempts_total Times the operation was started, including hedges.
# TYPE resilience_attempts_total counter
resilience_attempts_total{service="payments"} 5
# HELP resilience_calls_total Calls that ended, by result: success or failure.
# TYPE resilience_calls_total counter
resilience_calls_total{result="failure",service="payments"} 2
resilience_calls_total{result="success",service="payments"} 2
# HELP resilience_circuit_breaker_state Circuit breaker: 0 closed, 1 half-open, 2 open.
# TYPE resilience_circuit_breaker_state gauge
resilience_circuit_breaker_state{service="payments"} 2
# HELP resilience_retries_total Retries, by the error's name in the retry table.
# TYPE resilience_retries_total counter
resilience_retries_total{error="ServiceUnavailableError",service="payments"} 2
# HELP resilience_retried_successes_total Calls that succeeded after a retry.
# TYPE resilience_retried_successes_total counter
resilience_retried_successes_total{service="payments"} 1
# HELP resilience_stopped_total Calls that were given up or refused, by reason.
# TYPE resilience_stopped_total counter
resilience_stopped_total{reason="no retry is left",service="payments"} 1
resilience_stopped_total{reason="the circuit is open",service="payments"} 1
`
		names := []string{
			"resilience_attempts_total",
			"resilience_calls_total",
			"resilience_circuit_breaker_state",
			"resilience_retries_total",
			"resilience_retried_successes_total",
			"resilience_stopped_total",
		}
		if err := testutil.GatherAndCompare(registry, strings.NewReader(want), names...); err != nil {
			t.Error(err)
		}
		if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
			t.Errorf("%v, %v", problems, err)
		}
	})
}
