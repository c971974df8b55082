// Package resilienceprom exposes the statistics of executors as Prometheus metrics. It reads them when it is scraped,
// so calls have no overhead.
package resilienceprom

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"stepback/resilience"
)

// The metrics, each with the label service. Rates are computed by queries:
//
//	retry rate           rate(resilience_retries_total) / rate(resilience_attempts_total)
//	success rate         rate(resilience_calls_total{result="success"}) / rate(resilience_calls_total)
//	mean attempts        rate(resilience_attempts_total) / rate(resilience_calls_total)
//	retry success rate   rate(resilience_retried_successes_total) / (… + rate(resilience_calls_total{result="failure"}))
var (
	calls = describe("calls_total", "Calls that ended, by result: success or failure.", "result")
	tries = describe("attempts_total", "Times the operation was started, including hedges.")
	retry = describe("retries_total", "Retries, by the error's name in the retry table.", "error")
	saved = describe("retried_successes_total", "Calls that succeeded after a retry.")
	given = describe("stopped_total", "Calls that were given up or refused, by reason.", "reason")
	hedge = describe("hedges_total", "Hedges: operations started in parallel to a slow one.")
	falls = describe("fallbacks_total", "Calls that a fallback answered.")
	usual = describe("typical_attempt_seconds", "Smoothed duration of successful attempts.")

	circuit     = describe("circuit_breaker_state", "Circuit breaker: 0 closed, 1 half-open, 2 open.")
	transitions = describe("circuit_breaker_transitions_total", "State changes of the circuit, by new state.", "to")
	rejected    = describe("circuit_breaker_rejected_total", "Calls and probes that the breaker refused.")

	running = describe("bulkhead_running", "Calls that run in the bulkhead.")
	queued  = describe("bulkhead_queued", "Calls that wait in the bulkhead's queue.")
	refused = describe("bulkhead_refused_total", "Calls that the bulkhead refused, by reason: full or timeout.",
		"reason")
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("resilience_"+name, help, append([]string{"service"}, labels...), nil)
}

// Collector is a prometheus.Collector over executors.
type Collector struct {
	mu        sync.Mutex
	executors []*resilience.Executor
}

// NewCollector returns a collector of executors, whose names must differ.
func NewCollector(executors ...*resilience.Executor) *Collector {
	return &Collector{executors: executors}
}

// Add adds another executor.
func (c *Collector) Add(e *resilience.Executor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.executors = append(c.executors, e)
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		calls, tries, retry, saved, given, hedge, falls, usual,
		circuit, transitions, rejected, running, queued, refused,
	} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	c.mu.Lock()
	executors := c.executors[:len(c.executors):len(c.executors)]
	c.mu.Unlock()
	for _, e := range executors {
		collect(e, out)
	}
}

func collect(e *resilience.Executor, out chan<- prometheus.Metric) {
	count := func(d *prometheus.Desc, n int64, labels ...string) {
		labels = append([]string{e.Service()}, labels...)
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	gauge := func(d *prometheus.Desc, v float64) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, e.Service())
	}
	s := e.Statistics()
	count(calls, s.Successes, "success")
	count(calls, s.Failures, "failure")
	count(tries, s.Attempts)
	count(saved, s.RetriedSuccesses)
	count(hedge, s.Hedges)
	count(falls, s.Fallbacks)
	gauge(usual, s.TypicalAttempt.Seconds())
	for name, n := range s.RetriesByError {
		count(retry, n, name)
	}
	for reason, n := range s.Refused {
		count(given, n, reason)
	}
	if b := e.Breaker(); b != nil {
		s := b.Statistics()
		gauge(circuit, float64(s.Circuit))
		count(transitions, s.Totals.Opened, "open")
		count(transitions, s.Totals.HalfOpened, "half-open")
		count(transitions, s.Totals.Closed, "closed")
		count(rejected, s.Totals.Rejected)
	}
	if b := e.Bulkhead(); b != nil {
		s := b.Statistics()
		gauge(running, float64(s.Running))
		gauge(queued, float64(s.Queued))
		count(refused, s.Full, "full")
		count(refused, s.TimedOut, "timeout")
	}
}
