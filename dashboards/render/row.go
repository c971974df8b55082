package render

import (
	"encoding/json"
	"fmt"
	"slices"

	"stepback/retrymetrics/metricmath"
)

// row is one row of a metric widget: a metric, or an expression.
type row struct {
	names  []string // namespace, metric, and names and values of dimensions
	metric metricmath.Metric
	options
}

// options are the last element of a metric row.
type options struct {
	Expression string  `json:"expression"`
	Label      string  `json:"label"`
	ID         string  `json:"id"`
	Stat       string  `json:"stat"`
	Color      string  `json:"color"`
	YAxis      string  `json:"yAxis"`
	Region     string  `json:"region"`
	AccountID  string  `json:"accountId"`
	Period     float64 `json:"period"`
	Visible    *bool   `json:"visible"`
}

const (
	same = "."   // repeats the text at the same position of the previous row
	rest = "..." // repeats as many of its texts as this row is shorter
)

// rows parses a widget's metric rows. Repetitions of the previous row may be abbreviated with dots, as CloudWatch's
// console does when it saves a dashboard.
func (p *properties) rows() ([]row, error) {
	var all []row
	var before []string
	for _, raw := range p.Metrics {
		r, err := readRow(raw)
		if err != nil {
			return nil, err
		}
		if r.Expression == "" {
			r.names = undotted(r.names, before)
			before = r.names
			if len(r.names) < 2 || len(r.names)%2 != 0 || slices.Contains(r.names, same) || slices.Contains(r.names,
				rest) {
				return nil, fmt.Errorf("the row %q names no metric: namespace, name, and pairs of dimension and value", r.names)
			}
			r.metric.Namespace, r.metric.Name = r.names[0], r.names[1]
			for i := 2; i < len(r.names); i += 2 {
				r.metric.Dimensions = append(r.metric.Dimensions, metricmath.Dimension{Name: r.names[i],
					Value: r.names[i+1]})
			}
		}
		all = append(all, r)
	}
	return all, nil
}

// readRow splits a metric row into its names and its options.
func readRow(raw []json.RawMessage) (row, error) {
	var r row
	for _, part := range raw {
		var name string
		if json.Unmarshal(part, &name) == nil {
			r.names = append(r.names, name)
		} else if err := json.Unmarshal(part, &r.options); err != nil {
			return row{}, fmt.Errorf("a metric row cannot be read: %w", err)
		}
	}
	return r, nil
}

// undotted replaces dots by the names of the previous row. Dots that stand for no name of that row are kept.
func undotted(names, before []string) []string {
	if i := slices.Index(names, rest); i >= 0 {
		if end := i + len(before) - (len(names) - 1); i <= end && end <= len(before) {
			names = slices.Concat(names[:i], before[i:end], names[i+1:])
		}
	}
	out := slices.Clone(names)
	for i, name := range out {
		if name == same && i < len(before) {
			out[i] = before[i]
		}
	}
	return out
}
