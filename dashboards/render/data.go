package render

import (
	"errors"
	"math"
	"slices"
	"time"

	"stepback/retrymetrics"
	"stepback/retrymetrics/metricmath"
)

// Data provides the data of a dashboard.
type Data interface {
	// Grid returns the periods that the charts cover; its length is 0 if there are no data at all.
	Grid() metricmath.Grid
	// Values returns a statistic of a series for each period of a grid. The grid is that of [Data.Grid], or a
	// single period covering all of it.
	Values(s retrymetrics.Series, stat retrymetrics.Stat, g metricmath.Grid) (metricmath.Series, error)
	// Find returns those series of a metric that have the dimension set, belong to the state machine, and have
	// data.
	Find(m *retrymetrics.Metric, set retrymetrics.Set, machine string) ([]retrymetrics.Series, error)
}

// Points provides data that is available locally, such as that of a data directory.
type Points []retrymetrics.Point

// Grid divides the data into at most 120 periods of the shortest customary length.
func (ps Points) Grid() metricmath.Grid {
	const most = 120
	if len(ps) == 0 {
		return metricmath.Grid{}
	}
	earlier := func(a, b retrymetrics.Point) int { return a.Start.Compare(b.Start) }
	from, to := slices.MinFunc(ps, earlier).Start, slices.MaxFunc(ps, earlier).Start
	period := 24 * time.Hour
	for _, p := range []time.Duration{
		time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute,
		15 * time.Minute, time.Hour, 6 * time.Hour,
	} {
		if to.Sub(from) <= most*p {
			period = p
			break
		}
	}
	return metricmath.GridOver(from, to, period)
}

// Values implements [Data].
func (ps Points) Values(s retrymetrics.Series, stat retrymetrics.Stat, g metricmath.Grid) (metricmath.Series, error) {
	if g.Len == 0 {
		return nil, s.Check()
	}
	data, err := retrymetrics.Statistic(ps, s, stat, g.Period)
	return g.Series(data), err
}

// Find implements [Data].
func (ps Points) Find(m *retrymetrics.Metric, set retrymetrics.Set, machine string) ([]retrymetrics.Series, error) {
	var found []retrymetrics.Series
	for i := range ps {
		p := &ps[i]
		if p.Metric != m || p.Labels.StateMachine != machine || !p.Labels.Has(set) {
			continue
		}
		dimensions := set.Dimensions()
		values := make([]string, 0, len(dimensions))
		for _, d := range dimensions {
			values = append(values, p.Labels.Value(d))
		}
		if !slices.ContainsFunc(found, func(s retrymetrics.Series) bool { return slices.Equal(s.Values, values) }) {
			found = append(found, m.In(set, values...))
		}
	}
	return found, nil
}

// whole returns a grid with a single period that covers everything. It is used to compute single values.
func whole() metricmath.Grid {
	const century = 100 * 365 * 24 * time.Hour
	return metricmath.Grid{Start: time.Unix(0, 0).UTC(), Period: century, Len: 1}
}

// foreign reports whether an error is about a metric of another service.
func foreign(err error) bool {
	_, ok := errors.AsType[*foreignError](err)
	return ok
}

// Request is one statistic of a series that a dashboard draws.
type Request struct {
	Series retrymetrics.Series
	Stat   retrymetrics.Stat
}

// Requests returns the statistics that a dashboard body needs, each of them once, so that they can be fetched
// together. Searches are evaluated by find. Requests returns the same errors as drawing the body would.
func Requests(text []byte, find func(*retrymetrics.Metric, retrymetrics.Set, string) ([]retrymetrics.Series,
	error)) ([]Request, error) {
	b, err := parse(text)
	if err != nil {
		return nil, err
	}
	r := recorder{find: find, seen: map[string]bool{}}
	for _, w := range b.Widgets {
		if _, err := w.lines(&r, whole()); err != nil && !foreign(err) {
			return nil, err
		}
	}
	return r.requests, nil
}

// recorder is Data that records what is requested and contains no values.
type recorder struct {
	find     func(*retrymetrics.Metric, retrymetrics.Set, string) ([]retrymetrics.Series, error)
	requests []Request
	seen     map[string]bool
}

func (r *recorder) Grid() metricmath.Grid { return metricmath.Grid{} }

func (r *recorder) Values(s retrymetrics.Series, stat retrymetrics.Stat, g metricmath.Grid) (metricmath.Series, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if key := s.String() + " " + string(stat); !r.seen[key] {
		r.seen[key] = true
		r.requests = append(r.requests, Request{s, stat})
	}
	none := make(metricmath.Series, g.Len)
	for i := range none {
		none[i] = math.NaN()
	}
	return none, nil
}

func (r *recorder) Find(m *retrymetrics.Metric, set retrymetrics.Set, machine string) ([]retrymetrics.Series, error) {
	return r.find(m, set, machine)
}
