package metricmath

import "math"

// Labelled is a series with its label.
type Labelled struct {
	Label  string
	Values Series
}

// kind is the type of an expression's value.
type kind int

const (
	number kind = iota
	series
	list
	text
)

var kinds = map[kind]string{number: "a number", series: "a time series", list: "an array of time series", text: "a string"}

// value is the value of an expression or of a part of it.
type value struct {
	kind   kind
	number float64
	list   []Labelled // a series has exactly one element
	text   string
}

func ofNumber(v float64) value { return value{kind: number, number: v} }

func ofSeries(label string, s Series) value {
	return value{kind: series, list: []Labelled{{label, s}}}
}

// each returns the value with f applied to every number.
func (v value) each(f func(float64) float64) value {
	if v.kind == number {
		return ofNumber(f(v.number))
	}
	out := value{kind: v.kind}
	for _, l := range v.list {
		made := make(Series, len(l.Values))
		for i, x := range l.Values {
			made[i] = f(x)
		}
		out.list = append(out.list, Labelled{l.Label, made})
	}
	return out
}

// per returns the value with f applied to every series.
func (v value) per(f func(Series) Series) value {
	out := value{kind: v.kind}
	for _, l := range v.list {
		out.list = append(out.list, Labelled{l.Label, f(l.Values)})
	}
	return out
}

// both applies f to the values of two operands, period by period. Arrays of the same length are combined pairwise.
func both(a, b value, f func(x, y float64) float64) (value, bool) {
	switch {
	case a.kind == number && b.kind == number:
		return ofNumber(f(a.number, b.number)), true
	case a.kind == number:
		return b.each(func(y float64) float64 { return f(a.number, y) }), true
	case b.kind == number:
		return a.each(func(x float64) float64 { return f(x, b.number) }), true
	case a.kind == series && b.kind == list:
		return b.per(func(s Series) Series { return zip(a.list[0].Values, s, f) }), true
	case b.kind == series:
		return a.per(func(s Series) Series { return zip(s, b.list[0].Values, f) }), true
	case len(a.list) != len(b.list):
		return value{}, false
	}
	out := value{kind: list}
	for i, l := range a.list {
		out.list = append(out.list, Labelled{l.Label, zip(l.Values, b.list[i].Values, f)})
	}
	return out, true
}

func zip(a, b Series, f func(x, y float64) float64) Series {
	made := make(Series, len(a))
	for i := range a {
		made[i] = f(a[i], b[i])
	}
	return made
}

// present returns the values that are not missing.
func present(s Series) []float64 {
	var all []float64
	for _, x := range s {
		if !math.IsNaN(x) {
			all = append(all, x)
		}
	}
	return all
}
