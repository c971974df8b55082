// Package monitor reports the state of a relay and its outbox over HTTP: metrics in Prometheus's text format, and a
// health check.
//
// It only reads. Its handler has no authentication: listen on the loopback interface, or where only monitoring has
// access.
package monitor

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"stepback/outbox"
)

// Relay is the part of *outbox.Relay that is monitored.
type Relay interface {
	Health() outbox.Health
}

// Outbox is the part of outbox.Store that is monitored.
type Outbox interface {
	Stats(ctx context.Context) (outbox.Stats, error)
}

// Monitor counts the events of a relay, and queries the outbox when it is scraped.
type Monitor struct {
	store Outbox
	now   func() time.Time

	sent, released, overruns, deleted, fenced prometheus.Counter
	retries, dead, storeFailures              *prometheus.CounterVec
	sendSeconds, claimSeconds, settleSeconds  prometheus.Histogram
	claimBatch, waitSeconds                   prometheus.Histogram
	registry                                  *prometheus.Registry
}

const statsTimeout = 10 * time.Second

// New returns a monitor of an outbox.
func New(store Outbox) *Monitor {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(
			prometheus.CounterOpts{Namespace: "stepback", Subsystem: "outbox", Name: name, Help: help})
	}
	vector := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(
			prometheus.CounterOpts{Namespace: "stepback", Subsystem: "outbox", Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(
			prometheus.HistogramOpts{
				Namespace: "stepback",
				Subsystem: "outbox",
				Name:      name,
				Help:      help,
				Buckets:   buckets,
			},
		)
	}
	seconds := prometheus.ExponentialBuckets(0.001, 4, 9) // 1 ms to 65 s
	m := &Monitor{
		store: store, now: time.Now, registry: prometheus.NewRegistry(),
		sent: counter("sent_total", "Messages that the sink accepted."),
		released: counter("released_total",
			"Messages returned without an attempt, because an earlier message of the key failed or the relay stopped."),
		overruns: counter("overruns_total", "Sends that did not return before their timeout."),
		deleted:  counter("deleted_total", "Messages deleted at the end of their retention."),
		fenced: counter("fenced_total",
			"Outcomes that were too late to record: the lease had ended and another relay had claimed the message."),
		retries:       vector("retries_total", "Failed attempts that are followed by a retry.", "error"),
		dead:          vector("dead_letters_total", "Messages that became dead letters.", "reason", "error"),
		storeFailures: vector("store_failures_total", "Failed database calls.", "call"),
		sendSeconds:   histogram("send_seconds", "How long a successful send took.", seconds),
		waitSeconds: histogram("wait_seconds", "Age of a sent message when it was claimed.",
			seconds),
		claimSeconds:  histogram("claim_seconds", "How long a claim took.", seconds),
		settleSeconds: histogram("settle_seconds", "How long recording outcomes took.", seconds),
		claimBatch:    histogram("claimed_messages", "Number of messages in a claim.", prometheus.ExponentialBuckets(1, 4, 7)),
	}
	m.registry.MustRegister(m.sent, m.released, m.overruns, m.deleted, m.fenced, m.retries, m.dead, m.storeFailures,
		m.sendSeconds, m.waitSeconds, m.claimSeconds, m.settleSeconds, m.claimBatch, depths{m})
	return m
}

// Observe counts an event; pass it to outbox.Config.
func (m *Monitor) Observe(e outbox.Event) {
	switch e.Kind {
	case outbox.EventSent:
		m.sent.Inc()
		m.sendSeconds.Observe(e.Took.Seconds())
		m.waitSeconds.Observe(e.Delivery.Waited.Seconds())
	case outbox.EventRetry:
		m.retries.WithLabelValues(e.Error).Inc()
	case outbox.EventDead:
		m.dead.WithLabelValues(e.Reason, e.Error).Inc()
	case outbox.EventReleased:
		m.released.Inc()
	case outbox.EventOverrun:
		m.overruns.Inc()
	case outbox.EventDeleted:
		m.deleted.Add(float64(e.Count))
	case outbox.EventStoreFailed:
		m.storeFailures.WithLabelValues(e.Error).Inc()
	case outbox.EventClaimed:
		m.claimSeconds.Observe(e.Took.Seconds())
		m.claimBatch.Observe(float64(e.Count))
	case outbox.EventSettled:
		m.settleSeconds.Observe(e.Took.Seconds())
		m.fenced.Add(float64(e.Lost))
	}
}

// depths collects the gauges by querying the outbox at each scrape.
type depths struct{ *Monitor }

var (
	depth = prometheus.NewDesc("stepback_outbox_messages",
		"Messages that are neither sent nor discarded, counted up to 100000.", []string{"status"}, nil)
	oldest = prometheus.NewDesc("stepback_outbox_oldest_seconds",
		"Age of the oldest message that is neither sent, dead nor discarded.", nil, nil)
)

// Describe implements prometheus.Collector.
func (depths) Describe(to chan<- *prometheus.Desc) {
	to <- depth
	to <- oldest
}

// Collect implements prometheus.Collector. If the database does not respond, the gauges are missing and the scrape
// reports the error.
func (d depths) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), statsTimeout)
	defer cancel()
	s, err := d.store.Stats(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(depth, err)
		return
	}
	for status, n := range map[outbox.Status]int{
		outbox.Pending: s.Pending, outbox.Processing: s.Processing, outbox.Failed: s.Failed, outbox.Dead: s.Dead,
	} {
		to <- prometheus.MustNewConstMetric(depth, prometheus.GaugeValue, float64(n), string(status))
	}
	to <- prometheus.MustNewConstMetric(oldest, prometheus.GaugeValue, s.Oldest.Seconds())
}

// Handler serves /metrics and /healthz. /healthz returns 200 and JSON while the relay works; a working relay has
// claimed within patience. Otherwise it returns 503 and the problem.
func (m *Monitor) Handler(relay Relay, patience time.Duration) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics",
		promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		status := m.judge(relay.Health(), patience)
		w.Header().Set("Content-Type", "application/json")
		if !status.Healthy {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(w).Encode(status) // the client may have gone
	})
	return mux
}

// Status is the response of /healthz.
type Status struct {
	Healthy   bool      `json:"healthy"`
	Problem   string    `json:"problem,omitempty"`
	LastClaim time.Time `json:"lastClaim"`
	Held      int       `json:"held"`
	Overruns  int       `json:"overruns"`
}

// judge decides whether a relay works.
func (m *Monitor) judge(h outbox.Health, patience time.Duration) Status {
	s := Status{LastClaim: h.LastClaim.UTC(), Held: h.Held, Overruns: h.Overruns}
	switch silent := m.now().Sub(h.LastClaim); {
	case !h.Running:
		s.Problem = "the relay has not been started"
	case h.Overruns > 0 && silent > patience:
		s.Problem = "the sink does not return from its sends"
	case h.Failing != nil && m.now().Sub(h.FailingSince) > patience:
		s.Problem = "the database has been failing since " + h.FailingSince.UTC().Format(time.RFC3339) + ": " + h.Failing.Error()
	case silent > patience:
		s.Problem = "the relay has not looked for messages since " + h.LastClaim.UTC().Format(time.RFC3339)
	default:
		s.Healthy = true
	}
	return s
}
