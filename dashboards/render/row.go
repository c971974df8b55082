package render

import (
	"encoding/json"
	"slices"
)

// row is one row of a metric widget: its namespace, metric and dimensions, or an expression.
type row struct {
	names []string
	options
}

const (
	same = "."   // repeats the text at the same position of the previous row
	rest = "..." // repeats as many of its texts as this row is shorter
)

// rows parses a widget's metric rows. Repetitions of the previous row may be abbreviated with dots, as CloudWatch's
// console does when it saves a dashboard.
func (w widget) rows() ([]row, error) {
	var all []row
	var before []string
	for _, raw := range w.Properties.Metrics {
		r, err := readRow(raw)
		if err != nil {
			return nil, err
		}
		if r.Expression == "" {
			r.names = undotted(r.names, before)
			before = r.names
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
			return row{}, err
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
