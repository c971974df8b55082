package render

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

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
func (w widget) lines(data Data, g metricmath.Grid) ([]line, error) {
	terms := map[string]metricmath.Series{}
	var out []line
	for _, raw := range w.Properties.Metrics {
		names, o, err := row(raw)
		if err != nil {
			return nil, err
		}
		found, err := w.row(names, o, data, g, terms)
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

func (w widget) row(names []string, o options, data Data, g metricmath.Grid, terms map[string]metricmath.Series) ([]line, error) {
	if parts := searched.FindStringSubmatch(o.Expression); parts != nil {
		return search(parts, data, g)
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
	values, err := data.Values(s, retrymetrics.Stat(cmp.Or(o.Stat, w.Properties.Stat)), g)
	if err != nil {
		return nil, err
	}
	if o.ID != "" {
		terms[o.ID] = values
	}
	return []line{{cmp.Or(o.Label, names[1]), o.Color, values}}, nil
}

// search finds the series of a metric and labels each by what sets it apart.
func search(parts []string, data Data, g metricmath.Grid) ([]line, error) {
	metric, ok := retrymetrics.Named(parts[2])
	if !ok {
		return nil, fmt.Errorf("metric %q is not in the catalogue", parts[2])
	}
	set, err := setOf(metric, strings.Split(parts[1], ","))
	if err != nil {
		return nil, err
	}
	found, err := data.Find(metric, set, parts[3])
	if err != nil {
		return nil, err
	}
	out := make([]line, 0, len(found))
	for _, s := range found {
		values, err := data.Values(s, retrymetrics.Stat(parts[4]), g)
		if err != nil {
			return nil, err
		}
		out = append(out, line{label: strings.Join(s.Values[1:], " "), values: values})
	}
	slices.SortFunc(out, func(a, b line) int { return cmp.Compare(a.label, b.label) })
	return out, nil
}

// setOf is the metric's dimension set that a search's schema, a namespace and dimensions, means. StateMachine is the first of
// every set.
func setOf(m *retrymetrics.Metric, schema []string) (retrymetrics.Set, error) {
	for _, s := range m.Sets() {
		var names []string
		for _, d := range s.Dimensions() {
			names = append(names, string(d))
		}
		if schema[0] == m.Namespace() && slices.Equal(schema[1:], names) && names[0] == string(retrymetrics.StateMachine) {
			return s, nil
		}
	}
	return 0, fmt.Errorf("%s is not published in %v", m.Name(), schema)
}
