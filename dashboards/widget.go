// Package dashboards defines the CloudWatch dashboard of the retries as data over the catalogue of retrymetrics. It
// writes the body for PutDashboard, and calls nothing.
package dashboards

import (
	"fmt"
	"slices"
	"strings"

	"stepback/retrymetrics"
)

// Widget is one widget. Exactly one of Metric, Text and Alarms is set and determines its kind.
type Widget struct {
	Title               string
	X, Y, Width, Height int      // on a grid of 24 columns
	Text                string   // Markdown
	Alarms              []string // ARNs
	Metric              *MetricWidget
}

// MetricWidget shows metrics.
type MetricWidget struct {
	Rows    []Row
	View    string // timeSeries or singleValue
	Stacked bool
	// Unit is the unit of every row's values. Min and Max are the limits of the axis if they are fixed.
	Unit     retrymetrics.Unit
	Min, Max *float64
	Lines    []Line
	// Period is in seconds. 0 means 60, the interval at which most metrics are published.
	Period int
}

// Line is a horizontal annotation.
type Line struct {
	Label string  `json:"label"`
	Value float64 `json:"value"`
	Color string  `json:"color,omitempty"`
}

// Row is one line of a metric widget: a series, a rate or a search. Color is a CSS color; if it is empty, CloudWatch
// chooses one.
type Row struct {
	Label, Color string
	Stat         retrymetrics.Stat
	Series       *retrymetrics.Series
	Rate         *Rate
	Search       *Search
}

// Rate is metric math whose terms all have the same dimension set.
type Rate struct {
	retrymetrics.Rate
	Set    retrymetrics.Set
	Values []string
}

// Search finds every series of a metric with a dimension set for a state machine, and shows one line for each
// series.
type Search struct {
	Metric       *retrymetrics.Metric
	Set          retrymetrics.Set
	StateMachine string
	Period       int // seconds
}

// Expression returns the search as metric math.
func (s Search) Expression(stat retrymetrics.Stat) string {
	dimensions := s.Set.Dimensions()
	names := append(make([]string, 0, 1+len(dimensions)), retrymetrics.Namespace)
	for _, d := range dimensions {
		names = append(names, string(d))
	}
	return fmt.Sprintf(`SEARCH('{%s} MetricName="%s" StateMachine="%s"', '%s', %d)`,
		strings.Join(names, ","), s.Metric.Name(), s.StateMachine, stat, s.Period)
}

// series returns every series of a row. For a search it returns a single one.
func (r Row) series() []retrymetrics.Series {
	switch {
	case r.Series != nil:
		return []retrymetrics.Series{*r.Series}
	case r.Rate != nil:
		all := make([]retrymetrics.Series, 0, len(r.Rate.Terms))
		for _, t := range r.Rate.Terms {
			all = append(all, t.Metric.In(r.Rate.Set, r.Rate.Values...))
		}
		return all
	case r.Search != nil:
		values := []string{r.Search.StateMachine, "any", "any"}
		return []retrymetrics.Series{r.Search.Metric.In(r.Search.Set, values[:len(r.Search.Set.Dimensions())]...)}
	default:
		return nil
	}
}

// unit returns the unit of the row's values.
func (r Row) unit() retrymetrics.Unit {
	if r.Rate != nil {
		return r.Rate.Unit
	}
	return r.series()[0].Metric.Unit()
}

// ofRows reports whether a row shows the outcome of the CSV import's rows.
func (r Row) ofRows() bool {
	return slices.ContainsFunc(r.series(),
		func(s retrymetrics.Series) bool { return s.Metric.Origin() == retrymetrics.Summary })
}

// at reports whether the row has data at a log level.
func (r Row) at(level retrymetrics.Level) bool {
	for _, s := range r.series() {
		if !s.Metric.At(level) {
			return false
		}
	}
	return true
}
