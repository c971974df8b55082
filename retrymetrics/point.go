package retrymetrics

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Labels holds the dimension values of a metric's value. A dimension that is not known is empty.
type Labels struct {
	StateMachine string `json:"stateMachine"`
	State        string `json:"state,omitempty"`
	ErrorType    string `json:"errorType,omitempty"`
}

// Value returns the value of a dimension.
func (l Labels) Value(d Dimension) string {
	switch d {
	case State:
		return l.State
	case ErrorType:
		return l.ErrorType
	case StateMachine:
		return l.StateMachine
	default:
		return "" // a dimension of a metric that AWS publishes
	}
}

// Has reports whether every dimension of a set has a value.
func (l Labels) Has(s Set) bool {
	for _, d := range sets[s] {
		if l.Value(d) == "" {
			return false
		}
	}
	return true
}

// Point holds the values of one metric in one period under its labels.
type Point struct {
	Metric *Metric
	Labels Labels
	Start  time.Time // start of the period, UTC
	// Values are distinct and ascending; Counts holds how often each occurred. A counter has its sum as the only
	// value, with a count of 1.
	Values []float64
	Counts []int64
}

// OfImport reports whether a state machine is the CSV import, whose metrics include those of files and rows: its name
// begins with csv-import, or rows have been counted for it. The state machine that imports many files as one, whose
// name ends in -files, is not.
func OfImport(machine string, points []Point) bool {
	return strings.HasPrefix(machine, "csv-import") && !strings.HasSuffix(machine, "-files") || slices.ContainsFunc(points, func(p Point) bool {
		return p.Metric.origin == Summary && p.Labels.StateMachine == machine
	})
}

type pointJSON struct {
	Metric string    `json:"metric"`
	Labels Labels    `json:"labels"`
	Start  time.Time `json:"start"`
	Values []float64 `json:"values"`
	Counts []int64   `json:"counts"`
}

// MarshalJSON implements json.Marshaler.
func (p Point) MarshalJSON() ([]byte, error) {
	return json.Marshal(pointJSON{p.Metric.name, p.Labels, p.Start, p.Values, p.Counts})
}

// UnmarshalJSON implements json.Unmarshaler. A metric that is not in the catalogue is an error.
func (p *Point) UnmarshalJSON(b []byte) error {
	var j pointJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	m, ok := Named(j.Metric)
	if !ok {
		return fmt.Errorf("metric %q is not in the catalogue", j.Metric)
	}
	if len(j.Values) != len(j.Counts) || len(j.Values) == 0 {
		return fmt.Errorf("metric %s has %d values and %d counts; the numbers must be equal, and at least 1", j.Metric,
			len(j.Values), len(j.Counts))
	}
	*p = Point{m, j.Labels, j.Start.UTC(), j.Values, j.Counts}
	return nil
}

// add adds a value, aggregated in the metric's mode.
func (p *Point) add(v float64, times int64) {
	if len(p.Values) == 0 {
		p.Values, p.Counts = []float64{v}, []int64{times}
		return
	}
	switch p.Metric.mode {
	case added:
		p.Values[0] += v
	case highest:
		p.Values[0] = max(p.Values[0], v)
	case distribution:
		i, found := slices.BinarySearch(p.Values, v)
		if !found {
			p.Values, p.Counts = slices.Insert(p.Values, i, v), slices.Insert(p.Counts, i, 0)
		}
		p.Counts[i] += times
	}
}

// points holds points by metric, labels and period. The zero value is ready to use.
type points map[pointKey]*Point

type pointKey struct {
	metric *Metric
	labels Labels
	start  int64
}

// add adds a value to the period that starts at start, in nanoseconds since 1970.
func (ps *points) add(m *Metric, l Labels, start int64, v float64, times int64) {
	if *ps == nil {
		*ps = points{}
	}
	k := pointKey{m, l, start}
	p := (*ps)[k]
	if p == nil {
		p = &Point{Metric: m, Labels: l, Start: time.Unix(0, start).UTC()}
		(*ps)[k] = p
	}
	p.add(v, times)
}

// startOf returns the start of the period that contains a time; both are in nanoseconds since 1970.
func startOf(at int64, period time.Duration) int64 {
	rest := at % int64(period)
	if rest < 0 {
		rest += int64(period)
	}
	return at - rest
}

// sorted returns the points, sorted by time, metric and labels. They share the values of ps, so ps must not change
// afterwards.
func (ps points) sorted() []Point {
	out := make([]Point, 0, len(ps))
	for _, p := range ps {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b Point) int {
		return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.Metric.name, b.Metric.name),
			cmp.Compare(a.Labels.StateMachine, b.Labels.StateMachine),
			cmp.Compare(a.Labels.State, b.Labels.State), cmp.Compare(a.Labels.ErrorType, b.Labels.ErrorType))
	})
	return out
}

// Merge aggregates points of the same metric, labels and start.
func Merge(all []Point) []Point {
	var ps points
	ps.merge(all, 1)
	return ps.sorted()
}

// Coarsen aggregates points to longer periods.
func Coarsen(all []Point, period time.Duration) []Point {
	var ps points
	ps.merge(all, period)
	return ps.sorted()
}

func (ps *points) merge(all []Point, period time.Duration) {
	for _, p := range all {
		for i, v := range p.Values {
			ps.add(p.Metric, p.Labels, startOf(p.Start.UnixNano(), period), v, p.Counts[i])
		}
	}
}

// rounded rounds a value to two significant digits, so that a distribution has about 90 values for each power of ten.
func rounded(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 1, 64), 64)
	if err != nil {
		return v
	}
	return r
}
