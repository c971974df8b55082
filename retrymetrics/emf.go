package retrymetrics

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Limits of the embedded metric format (CloudWatch's specification).
const (
	maxMetricsPerDirective = 100
	maxValuesPerMetric     = 100
	maxDimensionValue      = 1024
)

// AppendEMF appends points as lines of CloudWatch's embedded metric format. It writes one line per labels and
// period, or more if a metric has over 100 values. Each metric is listed with every declared dimension set whose
// dimensions all have a value.
func AppendEMF(dst []byte, ps []Point) ([]byte, error) {
	type place struct {
		labels Labels
		start  time.Time
	}
	var order []place
	groups := map[place][]Point{}
	for _, p := range ps {
		at := place{p.Labels, p.Start}
		if groups[at] == nil {
			order = append(order, at)
		}
		groups[at] = append(groups[at], p)
	}
	for _, at := range order {
		for rest := groups[at]; len(rest) > 0; {
			var line emfLine
			line, rest = fill(at.labels, at.start, rest)
			if len(line.directives) == 0 {
				continue
			}
			text, err := line.json()
			if err != nil {
				return dst, err
			}
			dst = append(append(dst, text...), '\n')
		}
	}
	return dst, nil
}

// emfLine is a line that is being built.
type emfLine struct {
	labels     Labels
	start      time.Time
	directives []emfDirective
	values     map[string]any
}

type emfDirective struct {
	Namespace  string
	Dimensions [][]Dimension
	Metrics    []emfMetric
}

type emfMetric struct {
	Name string
	Unit Unit
}

// fill returns a line with as many of the points as fit, and the points that did not fit: the values of a metric
// beyond the hundredth, and metrics that the line already contains.
func fill(l Labels, start time.Time, ps []Point) (emfLine, []Point) {
	line := emfLine{labels: l, start: start, values: map[string]any{}}
	var rest []Point
	for _, p := range ps {
		if line.values[p.Metric.name] != nil || len(line.values) == maxMetricsPerDirective {
			rest = append(rest, p)
			continue
		}
		dimensions := dimensionsOf(p.Metric, l)
		if len(dimensions) == 0 {
			continue
		}
		values, left := spread(p)
		if left != nil {
			rest = append(rest, *left)
		}
		line.values[p.Metric.name] = values
		line.directive(dimensions, emfMetric{p.Metric.name, p.Metric.unit})
	}
	return line, rest
}

func (line *emfLine) directive(dimensions [][]Dimension, m emfMetric) {
	for i := range line.directives {
		d := &line.directives[i]
		if slices.EqualFunc(d.Dimensions, dimensions, slices.Equal) {
			d.Metrics = append(d.Metrics, m)
			return
		}
	}
	line.directives = append(line.directives, emfDirective{Namespace, dimensions, []emfMetric{m}})
}

func dimensionsOf(m *Metric, l Labels) [][]Dimension {
	var out [][]Dimension
	for _, s := range m.sets {
		if l.Has(s) {
			out = append(out, sets[s])
		}
	}
	return out
}

// spread repeats each value by its count, up to the limit, and returns the rest.
func spread(p Point) (any, *Point) {
	if len(p.Values) == 1 && p.Counts[0] == 1 {
		return p.Values[0], nil
	}
	var out []float64
	for i, v := range p.Values {
		for n := range p.Counts[i] {
			if len(out) == maxValuesPerMetric {
				left := p
				left.Values, left.Counts = p.Values[i:], slices.Clone(p.Counts[i:])
				left.Counts[0] -= n
				return out, &left
			}
			out = append(out, v)
		}
	}
	return out, nil
}

func (line *emfLine) json() ([]byte, error) {
	root := map[string]any{"_aws": map[string]any{"Timestamp": line.start.UnixMilli(),
		"CloudWatchMetrics": line.directives}}
	for _, d := range []Dimension{StateMachine, State, ErrorType} {
		if v := line.labels.Value(d); v != "" {
			root[string(d)] = clip(v)
		}
	}
	for name, v := range line.values {
		root[name] = v
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(root); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// clip shortens a dimension's value to the length that CloudWatch accepts.
func clip(v string) string {
	if len(v) <= maxDimensionValue {
		return v
	}
	return strings.ToValidUTF8(v[:maxDimensionValue], "")
}
