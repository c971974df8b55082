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
var palette = []string{"#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f",
	"#bcbd22", "#17becf"}

// searched matches the supported form of a search: {namespace,dimensions} MetricName StateMachine, statistic.
var searched = regexp.MustCompile(`^SEARCH\('\{([^}]+)\} MetricName="([^"]+)" StateMachine="([^"]+)"', '(\w+)', \d+\)$`)

// foreignError reports that a row has a metric of another service, and is therefore not drawn.
type foreignError struct{ namespace, metric string }

func (e *foreignError) Error() string {
	return fmt.Sprintf("%s %s is not a metric of %s", e.namespace, e.metric, retrymetrics.Namespace)
}

// lines evaluates a widget's rows over a grid. Rows that are not visible serve as terms of other rows. Expressions
// are evaluated last, because CloudWatch's console writes them before their terms. If a row has a metric of another
// namespace, the error is a *foreignError.
func (w widget) lines(data Data, g metricmath.Grid) ([]line, error) {
	rows, err := w.rows()
	if err != nil {
		return nil, err
	}
	terms := map[string]metricmath.Series{}
	found := make([][]line, len(rows))
	for _, expressions := range []bool{false, true} {
		for i, r := range rows {
			if (r.Expression != "") != expressions {
				continue
			}
			if found[i], err = w.row(r, data, g, terms); err != nil {
				return nil, fmt.Errorf("widget %q: %w", w.Properties.Title, err)
			}
		}
	}
	var out []line
	for i, r := range rows {
		if r.Visible == nil || *r.Visible {
			out = append(out, found[i]...)
		}
	}
	for i := range out {
		out[i].color = cmp.Or(out[i].color, palette[i%len(palette)])
	}
	return out, nil
}

func (w widget) row(r row, data Data, g metricmath.Grid, terms map[string]metricmath.Series) ([]line, error) {
	if parts := searched.FindStringSubmatch(r.Expression); parts != nil {
		return search(parts, data, g)
	}
	if r.Expression != "" {
		values, err := metricmath.One(r.Expression, g, terms)
		return []line{{cmp.Or(r.Label, r.Expression), r.Color, values}}, err
	}
	if len(r.names) < 2 || len(r.names)%2 != 0 || slices.Contains(r.names, same) || slices.Contains(r.names, rest) {
		return nil, fmt.Errorf("the row %q names no metric of %s", r.names, retrymetrics.Namespace)
	}
	if r.names[0] != retrymetrics.Namespace {
		return nil, &foreignError{r.names[0], r.names[1]}
	}
	dimensions := map[retrymetrics.Dimension]string{}
	for i := 2; i < len(r.names); i += 2 {
		dimensions[retrymetrics.Dimension(r.names[i])] = r.names[i+1]
	}
	s, err := retrymetrics.SeriesOf(r.names[1], dimensions)
	if err != nil {
		return nil, err
	}
	values, err := data.Values(s, retrymetrics.Stat(cmp.Or(r.Stat, w.Properties.Stat)), g)
	if err != nil {
		return nil, err
	}
	if r.ID != "" {
		terms[r.ID] = values
	}
	return []line{{cmp.Or(r.Label, r.names[1]), r.Color, values}}, nil
}

// search finds the series of a metric and labels each by the dimensions that distinguish it.
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

// setOf returns the metric's dimension set for the schema of a search: a namespace and dimensions. StateMachine is
// the first dimension of every set.
func setOf(m *retrymetrics.Metric, schema []string) (retrymetrics.Set, error) {
	for _, s := range m.Sets() {
		var names []string
		for _, d := range s.Dimensions() {
			names = append(names, string(d))
		}
		if schema[0] == m.Namespace() && slices.Equal(schema[1:], names) &&
			names[0] == string(retrymetrics.StateMachine) {
			return s, nil
		}
	}
	return 0, fmt.Errorf("%s is not published in %v", m.Name(), schema)
}
