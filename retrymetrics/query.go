package retrymetrics

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Series identifies one CloudWatch metric: a declared metric with one of its dimension sets and the values of the
// set.
type Series struct {
	Metric *Metric
	Set    Set
	// Values are the values of the set's dimensions, in their order.
	Values []string
}

// In returns the metric's series for a dimension set and values of its dimensions.
func (m *Metric) In(s Set, values ...string) Series { return Series{m, s, values} }

// String returns a readable name that is unique to the series.
func (s Series) String() string {
	var b strings.Builder
	b.WriteString(s.Metric.name)
	for i, d := range sets[s.Set] {
		if i < len(s.Values) {
			fmt.Fprintf(&b, " %s=%q", d, s.Values[i])
		}
	}
	return b.String()
}

// Check returns an error if CloudWatch would find nothing under the series: the metric is not published with the set,
// or there is not exactly one value for each dimension.
func (s Series) Check() error {
	switch {
	case s.Metric == nil:
		return errors.New("a series without a metric")
	case !slices.Contains(s.Metric.sets, s.Set):
		return fmt.Errorf("%s is not published with %s; declare the set in the catalogue or use one of %v",
			s.Metric.name, s.Set, s.Metric.sets)
	case len(s.Values) != len(sets[s.Set]):
		return fmt.Errorf("%s with %s takes %d values, not %d", s.Metric.name, s.Set, len(sets[s.Set]), len(s.Values))
	case slices.Contains(s.Values, ""):
		return fmt.Errorf("%s with %s has an empty value, which CloudWatch refuses", s.Metric.name, s.Set)
	}
	return nil
}

// Matches reports whether a point is part of the series.
func (s Series) Matches(p *Point) bool {
	if p.Metric != s.Metric {
		return false
	}
	for i, d := range sets[s.Set] {
		if p.Labels.Value(d) != s.Values[i] {
			return false
		}
	}
	return true
}

// SeriesOf returns the series that CloudWatch identifies by a metric's name and dimensions.
func SeriesOf(name string, dimensions map[Dimension]string) (Series, error) {
	all := namesakes(name)
	if len(all) == 0 {
		return Series{}, fmt.Errorf("metric %q is not in the catalogue", name)
	}
	for _, m := range all {
		for _, s := range m.sets {
			if len(sets[s]) != len(dimensions) {
				continue
			}
			values := make([]string, 0, len(dimensions))
			for _, d := range sets[s] {
				if v, ok := dimensions[d]; ok {
					values = append(values, v)
				}
			}
			if len(values) == len(dimensions) {
				return m.In(s, values...), nil
			}
		}
	}
	return Series{}, fmt.Errorf("%s is not published with the dimensions %v", name, dimensions)
}
