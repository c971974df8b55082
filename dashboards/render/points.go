package render

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"stepback/retrymetrics"
	"stepback/retrymetrics/metricmath"
)

// Points is a source of metric data that is available locally, such as that of a data directory. It has the metrics of
// the catalogue of retrymetrics only, and neither alarms nor logs.
type Points []retrymetrics.Point

// Window returns a window around the data, with at most 120 periods of the shortest customary length. Its times are
// zero if there are no data.
func (ps Points) Window() Window {
	const most = 120
	if len(ps) == 0 {
		return Window{}
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
	g := metricmath.GridOver(from, to, period)
	return Window{From: g.Start, To: g.At(g.Len), Period: period}
}

// Metrics implements Source.
func (ps Points) Metrics(ctx context.Context, from, to time.Time, queries []Query) ([]Series, error) {
	return Evaluator{Values: ps.values, Find: ps.find}.Metrics(ctx, from, to, queries)
}

// Alarms implements Source: the alarms are missing.
func (ps Points) Alarms(_ context.Context, arns []string) ([]Alarm, error) {
	all := make([]Alarm, len(arns))
	for i, arn := range arns {
		all[i] = Alarm{Name: AlarmName(arn), ARN: arn, State: Missing}
	}
	return all, nil
}

// Logs implements Source with an error.
func (ps Points) Logs(context.Context, time.Time, time.Time, LogQuery) (Table, error) {
	return Table{}, errors.New("the metric data of a data directory contain no logs: name an endpoint")
}

func (ps Points) values(_ context.Context, m *metricmath.Metric, stat string, g metricmath.Grid) (metricmath.Series, error) {
	if m.Namespace != retrymetrics.Namespace {
		return nil, fmt.Errorf("the metric data of runs have no metrics of %s: name an endpoint", m.Namespace)
	}
	dimensions := map[retrymetrics.Dimension]string{}
	for _, d := range m.Dimensions {
		dimensions[retrymetrics.Dimension(d.Name)] = d.Value
	}
	s, err := retrymetrics.SeriesOf(m.Name, dimensions)
	if err != nil {
		return nil, err
	}
	if g.Len == 0 {
		return nil, s.Check()
	}
	data, err := retrymetrics.Statistic(ps.within(g), s, retrymetrics.Stat(stat), g.Period)
	if err == nil && g.Len == 1 { // one value for the whole range, which need not begin at a multiple of its length
		for i := range data {
			data[i].Start = g.Start
		}
	}
	return g.Series(data), err
}

// within returns the points in a grid's range. If the grid has a single period, their times become its start, so that
// they are aggregated to one value.
func (ps Points) within(g metricmath.Grid) []retrymetrics.Point {
	if g.Len != 1 {
		return ps
	}
	var all []retrymetrics.Point
	for i := range ps {
		if p := ps[i]; !p.Start.Before(g.Start) && p.Start.Before(g.At(1)) {
			p.Start = g.Start
			all = append(all, p)
		}
	}
	return all
}

func (ps Points) find(_ context.Context, q *metricmath.Search) ([]metricmath.Metric, error) {
	namespace, name := q.Exact()
	var found []metricmath.Metric
	seen := map[string]bool{}
	for i := range ps {
		p := &ps[i]
		if name != "" && p.Metric.Name() != name || namespace != "" && p.Metric.Namespace() != namespace {
			continue
		}
		for _, set := range p.Metric.Sets() {
			if !p.Labels.Has(set) {
				continue
			}
			m := metricmath.Metric{Namespace: p.Metric.Namespace(), Name: p.Metric.Name()}
			for _, d := range set.Dimensions() {
				m.Dimensions = append(m.Dimensions, metricmath.Dimension{Name: string(d), Value: p.Labels.Value(d)})
			}
			if key := fmt.Sprint(m); !seen[key] && q.Matches(&m) {
				seen[key] = true
				found = append(found, m)
			}
		}
	}
	slices.SortFunc(found, func(a, b metricmath.Metric) int {
		return slices.CompareFunc(a.Dimensions, b.Dimensions, func(x, y metricmath.Dimension) int {
			if x.Value < y.Value {
				return -1
			} else if x.Value > y.Value {
				return 1
			}
			return 0
		})
	})
	return found, nil
}
