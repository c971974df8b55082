// Package exposition exposes the catalogue's metrics in Prometheus's text format: counters and histograms since the
// program started, with the labels state_machine, state and error. It counts executions from their histories, like
// CloudWatch's data, and does not listen on a port itself.
package exposition

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"stepback/engine/history"
	"stepback/internal/sorting"
	"stepback/retrymetrics"
)

// Exposition aggregates the metrics of executions. The zero value is ready to use; it is safe for concurrent use. It
// is an http.Handler.
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
	count       int64
	buckets     []int64
}

// The upper bounds of the histograms' buckets, in seconds and in attempts.
var (
	secondBounds  = []float64{0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900, 3600}
	attemptBounds = []float64{1, 2, 3, 4, 5, 6, 8, 10, 15, 20}
)

// Observe counts an execution that has ended, by its ARN and its whole history.
func (x *Exposition) Observe(arn string, events []history.Event) {
	x.own.Do(func() { x.counted.OwnErrors = retrymetrics.OwnErrors })
	x.counted.Add(arn, events)
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

// add adds what was counted since the last call.
func (x *Exposition) add() {
	if x.totals == nil {
		x.totals = map[key]*total{}
	}
	points := x.counted.Take()
	for i := range points {
		p := &points[i]
		k := key{p.Metric, p.Labels}
		t := x.totals[k]
		if t == nil {
			t = &total{buckets: make([]int64, len(boundsOf(p.Metric)))}
			x.totals[k] = t
		}
		for n, v := range p.Values {
			t.sum += v * float64(p.Counts[n])
			t.count += p.Counts[n]
			t.latest = v
			for b, bound := range boundsOf(p.Metric) {
				if v <= bound {
					t.buckets[b] += p.Counts[n]
				}
			}
		}
	}
}

// Write writes all metrics, in the order of the catalogue and of their labels.
func (x *Exposition) Write(w io.Writer) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.add()
	var b strings.Builder
	keys := sorting.Collect(maps.Keys(x.totals), func(a, c key) int {
		return cmp.Or(cmp.Compare(a.labels.StateMachine, c.labels.StateMachine),
			cmp.Compare(a.labels.State, c.labels.State), cmp.Compare(a.labels.ErrorType, c.labels.ErrorType))
	})
	for _, m := range retrymetrics.Catalogue() {
		head := false
		for _, k := range keys {
			if k.metric != m {
				continue
			}
			name, kind := NameOf(m), Kind(m)
			if kind == "counter" {
				name += "_total"
			}
			if !head {
				fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, escaped(m.Description()), name, kind)
				head = true
			}
			x.totals[k].write(&b, name, kind, labelsOf(k.labels), boundsOf(m))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *total) write(b *strings.Builder, name, kind, labels string, bounds []float64) {
	switch kind {
	case "counter":
		fmt.Fprintf(b, "%s{%s} %s\n", name, labels, number(t.sum))
	case "gauge":
		fmt.Fprintf(b, "%s{%s} %s\n", name, labels, number(t.latest))
	default:
		for i, bound := range bounds {
			fmt.Fprintf(b, "%s_bucket{%s,le=%q} %d\n", name, labels, number(bound), t.buckets[i])
		}
		fmt.Fprintf(b, "%s_bucket{%s,le=\"+Inf\"} %d\n%s_sum{%s} %s\n%s_count{%s} %d\n", name, labels, t.count, name, labels,
			number(t.sum), name, labels, t.count)
	}
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// labelsOf formats labels; those without a value are left out.
func labelsOf(l retrymetrics.Labels) string {
	var parts []string
	for _, one := range [][2]string{{"state_machine", l.StateMachine}, {"state", l.State}, {"error", l.ErrorType}} {
		if one[1] != "" {
			parts = append(parts, one[0]+`="`+strings.ReplaceAll(escaped(one[1]), `"`, `\"`)+`"`)
		}
	}
	return strings.Join(parts, ",")
}

func escaped(s string) string { return strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(s) }

// ServeHTTP implements http.Handler.
func (x *Exposition) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "Use GET.", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_ = x.Write(w) // the client has disconnected
}
