package render

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"stepback/retrymetrics"
	"stepback/retrymetrics/metricmath"
)

// line is one line of a chart.
type line struct {
	label, color string
	values       metricmath.Series
}

// palette is CloudWatch's order of colors.
var palette = []string{"#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf"}

// searched is the form of search that is understood: {namespace,dimensions} MetricName StateMachine, statistic.
var searched = regexp.MustCompile(`^SEARCH\('\{([^}]+)\} MetricName="([^"]+)" StateMachine="([^"]+)"', '(\w+)', \d+\)$`)

// lines evaluates a widget's rows over a grid. Rows that are not visible are terms of the others.
func (w widget) lines(points []retrymetrics.Point, g metricmath.Grid) ([]line, error) {
	terms := map[string]metricmath.Series{}
	var out []line
	for _, raw := range w.Properties.Metrics {
		names, o, err := row(raw)
		if err != nil {
			return nil, err
		}
		found, err := w.row(names, o, points, g, terms)
		if err != nil {
			return nil, fmt.Errorf("widget %q: %w", w.Properties.Title, err)
		}
		if o.Visible == nil || *o.Visible {
			out = append(out, found...)
		}
	}
	for i := range out {
		out[i].color = cmp.Or(out[i].color, palette[i%len(palette)])
	}
	return out, nil
}

func (w widget) row(names []string, o options, points []retrymetrics.Point, g metricmath.Grid, terms map[string]metricmath.Series) ([]line, error) {
	if parts := searched.FindStringSubmatch(o.Expression); parts != nil {
		return search(parts, points, g)
	}
	if o.Expression != "" {
		values, err := metricmath.Evaluate(o.Expression, g, terms)
		return []line{{cmp.Or(o.Label, o.Expression), o.Color, values}}, err
	}
	if len(names) < 2 || len(names)%2 != 0 || names[0] != retrymetrics.Namespace {
		return nil, fmt.Errorf("the row %q names no metric of %s", names, retrymetrics.Namespace)
	}
	dimensions := map[retrymetrics.Dimension]string{}
	for i := 2; i < len(names); i += 2 {
		dimensions[retrymetrics.Dimension(names[i])] = names[i+1]
	}
	s, err := retrymetrics.SeriesOf(names[1], dimensions)
	if err != nil {
		return nil, err
	}
	data, err := retrymetrics.Statistic(points, s, retrymetrics.Stat(cmp.Or(o.Stat, w.Properties.Stat)), g.Period)
	if err != nil {
		return nil, err
	}
	values := g.Series(data)
	if o.ID != "" {
		terms[o.ID] = values
	}
	return []line{{cmp.Or(o.Label, names[1]), o.Color, values}}, nil
}

// search finds the series of a metric and labels each by what sets it apart.
func search(parts []string, points []retrymetrics.Point, g metricmath.Grid) ([]line, error) {
	metric, ok := retrymetrics.Named(parts[2])
	if !ok {
		return nil, fmt.Errorf("metric %q is not in the catalogue", parts[2])
	}
	wanted := strings.Split(parts[1], ",")[1:]
	series := map[string]retrymetrics.Series{}
	for i := range points {
		p := &points[i]
		if p.Metric != metric || p.Labels.StateMachine != parts[3] {
			continue
		}
		dimensions := map[retrymetrics.Dimension]string{}
		var label []string
		for _, name := range wanted {
			d := retrymetrics.Dimension(name)
			dimensions[d] = p.Labels.Value(d)
			if d != retrymetrics.StateMachine {
				label = append(label, p.Labels.Value(d))
			}
		}
		s, err := retrymetrics.SeriesOf(metric.Name(), dimensions)
		if err != nil {
			return nil, err
		}
		if s.Check() == nil {
			series[strings.Join(label, " ")] = s
		}
	}
	var out []line
	for _, label := range slices.Sorted(maps.Keys(series)) {
		data, err := retrymetrics.Statistic(points, series[label], retrymetrics.Stat(parts[4]), g.Period)
		if err != nil {
			return nil, err
		}
		out = append(out, line{label: label, values: g.Series(data)})
	}
	return out, nil
}

// whole is one period over everything, for single values.
func whole() metricmath.Grid {
	const century = 100 * 365 * 24 * time.Hour
	return metricmath.Grid{Start: time.Unix(0, 0).UTC(), Period: century, Len: 1}
}

// automatic picks the shortest customary period that gives no more than 120 of them.
func automatic(points []retrymetrics.Point) metricmath.Grid {
	const most = 120
	if len(points) == 0 {
		return metricmath.Grid{Start: time.Unix(0, 0).UTC(), Period: time.Minute, Len: 1}
	}
	earlier := func(a, b retrymetrics.Point) int { return a.Start.Compare(b.Start) }
	from, to := slices.MinFunc(points, earlier).Start, slices.MaxFunc(points, earlier).Start
	period := 24 * time.Hour
	for _, p := range []time.Duration{
		time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour,
	} {
		if to.Sub(from) <= most*p {
			period = p
			break
		}
	}
	return metricmath.GridOver(from, to, period)
}
