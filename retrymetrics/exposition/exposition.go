// Package exposition reports the catalogue's metrics to Prometheus: counters and histograms since the program began,
// with the labels state_machine, state and error. It counts what happens in executions at the time it happens, as
// CloudWatch's data are counted. It listens nowhere: register an Exposition and serve the registry with promhttp.
package exposition

import (
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"stepback/retrymetrics"
)

// Exposition implements prometheus.Collector over the executions that are counted in Counts. The zero value is ready;
// it is safe for concurrent use.
type Exposition struct {
	own     sync.Once // sets counted.OwnErrors
	counted retrymetrics.Collector

	mu     sync.Mutex
	totals map[key]*total
}

// key is a metric with its labels.
type key struct {
	metric *retrymetrics.Metric
	labels retrymetrics.Labels
}

// total is the aggregate of a metric: a sum and the number of values, with buckets if the metric has a distribution.
type total struct {
	sum, latest float64
	count       uint64
	buckets     []uint64 // cumulative, in the order of boundsOf
}

// The upper bounds of the histograms' buckets, in seconds and in attempts.
var (
	secondBounds  = []float64{0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900, 3600}
	attemptBounds = []float64{1, 2, 3, 4, 5, 6, 8, 10, 15, 20}
)

// Counts returns the collector that the metrics are read from. Count executions in it: as they run, as a target of
// retrymetrics.Live, or from their histories.
func (x *Exposition) Counts() *retrymetrics.Collector {
	x.own.Do(func() { x.counted.OwnErrors = retrymetrics.OwnErrors })
	return &x.counted
}

// NameOf returns the name of a metric in Prometheus, without the suffix for its kind: RetryAttempts is
// stepback_retry_attempts.
func NameOf(m *retrymetrics.Metric) string {
	var b strings.Builder
	b.WriteString("stepback")
	for _, r := range m.Name() {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	if m.Unit() == retrymetrics.Seconds {
		b.WriteString("_seconds")
	}
	return b.String()
}

// Kind returns how a metric is exposed: counter, gauge or histogram.
func Kind(m *retrymetrics.Metric) string {
	switch m.Stat() {
	case retrymetrics.Sum:
		return "counter"
	case retrymetrics.Average:
		return "histogram"
	default:
		return "gauge"
	}
}

func boundsOf(m *retrymetrics.Metric) []float64 {
	if m.Unit() == retrymetrics.Seconds {
		return secondBounds
	}
	return attemptBounds
}

// add adds the values counted since the last call to the totals.
func (x *Exposition) add() {
	if x.totals == nil {
		x.totals = map[key]*total{}
	}
	points := x.Counts().Take()
	for i := range points {
		p := &points[i]
		k := key{p.Metric, p.Labels}
		t := x.totals[k]
		if t == nil {
			t = &total{buckets: make([]uint64, len(boundsOf(p.Metric)))}
			x.totals[k] = t
		}
		for n, v := range p.Values {
			count := uint64(p.Counts[n])
			t.sum += v * float64(count)
			t.count += count
			t.latest = v
			for b, bound := range boundsOf(p.Metric) {
				if v <= bound {
					t.buckets[b] += count
				}
			}
		}
	}
}

// Describe implements prometheus.Collector. It sends nothing, because the metrics depend on the observed
// executions. Prometheus therefore treats the collector as unchecked.
func (x *Exposition) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (x *Exposition) Collect(out chan<- prometheus.Metric) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.add()
	for k, t := range x.totals {
		out <- t.metric(k)
	}
}

// metric returns the total as a Prometheus metric. Labels without a value are left out.
func (t *total) metric(k key) prometheus.Metric {
	var names, values []string
	for _, l := range [][2]string{{"state_machine", k.labels.StateMachine}, {"state", k.labels.State}, {"error", k.labels.ErrorType}} {
		if l[1] != "" {
			names, values = append(names, l[0]), append(values, strings.ToValidUTF8(l[1], "\uFFFD"))
		}
	}
	desc := func(suffix string) *prometheus.Desc {
		return prometheus.NewDesc(NameOf(k.metric)+suffix, k.metric.Description(), names, nil)
	}
	switch Kind(k.metric) {
	case "counter":
		return prometheus.MustNewConstMetric(desc("_total"), prometheus.CounterValue, t.sum, values...)
	case "gauge":
		return prometheus.MustNewConstMetric(desc(""), prometheus.GaugeValue, t.latest, values...)
	default:
		buckets := make(map[float64]uint64, len(t.buckets))
		for i, bound := range boundsOf(k.metric) {
			buckets[bound] = t.buckets[i]
		}
		return prometheus.MustNewConstHistogram(desc(""), t.count, t.sum, buckets, values...)
	}
}
