package cloudwatch

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"stepback/aws"
	"stepback/internal/budgets"
	"stepback/internal/lazyregexp"
	"stepback/local/services/cloudwatch/datapoints"
	"stepback/retrymetrics/metricmath"
)

// view evaluates the queries of a request over a time range.
type view struct {
	service    *Service
	scope      aws.Scope
	queries    []metricQuery
	start, end time.Time
	depth      int
	grid       metricmath.Grid // start, period and number of periods of the evaluated expression
	several    []string        // the units in which the most recently read metric has data
	cells      *int            // values that may still be computed
}

func (s *Service) view(scope aws.Scope, queries []metricQuery, start, end time.Time) *view {
	cells := budgets.MetricCells.Value
	return &view{service: s, scope: scope, queries: queries, start: start, end: end, cells: &cells}
}

// perSeries is the work of a series apart from its values, in values.
const perSeries = 50

// spend takes the work of computing a series over a grid. It returns an error if the request computes too much.
func (v *view) spend(grid metricmath.Grid) error {
	if *v.cells -= grid.Len + perSeries; *v.cells < 0 {
		return &aws.Error{Code: "ValidationError", Message: fmt.Sprintf("The request computes more than %d values; ask for less by a "+
			"longer Period, a shorter time or fewer expressions.", budgets.MetricCells.Value)}
	}
	return nil
}

// gridOf returns the periods that the view covers. As on AWS, they follow each other from the start, rounded down to a
// minute.
func (v *view) gridOf(seconds int64) metricmath.Grid {
	from := v.start.Unix() - v.start.Unix()%min(seconds, 60)
	n := (v.end.Unix() - from + seconds - 1) / seconds
	return metricmath.Grid{Start: time.Unix(from, 0).UTC(), Period: time.Duration(seconds) * time.Second,
		Len: int(min(n, math.MaxInt32))}
}

// period returns the period of a query: its own, or the longest of the metrics.
func (v *view) period(q *metricQuery) int64 {
	if q.MetricStat != nil {
		return q.MetricStat.Period
	}
	if q.Period != 0 {
		return q.Period
	}
	longest := int64(0)
	for i := range v.queries {
		if m := v.queries[i].MetricStat; m != nil {
			longest = max(longest, m.Period)
		}
	}
	if m := searched.FindStringSubmatch(q.Expression); longest == 0 && m != nil {
		if _, err := fmt.Sscan(m[1], &longest); err != nil {
			longest = 0
		}
	}
	const usual = 300
	return cmp.Or(longest, usual)
}

// searched matches a SEARCH and captures its period.
var searched = lazyregexp.New(`SEARCH\(.*,\s*(\d+)\s*\)`)

// query evaluates a query.
func (v *view) query(q *metricQuery) (metricmath.Grid, []metricmath.Labelled, error) {
	grid := v.gridOf(v.period(q))
	if q.MetricStat != nil {
		l, err := v.metric(q.MetricStat, grid)
		return grid, []metricmath.Labelled{l}, err
	}
	if id, deviations, ok := bandOf(q.Expression); ok {
		all, err := v.band(id, deviations, grid)
		return grid, all, err
	}
	if err := v.spend(grid); err != nil {
		return grid, nil, err
	}
	if isInsights(q.Expression) {
		all, several, err := v.insights(q.Expression, grid)
		if err == nil && !several && len(all) == 1 {
			all[0].Label = q.ID
		}
		return grid, all, err
	}
	before := v.grid
	v.grid = grid
	all, _, err := metricmath.Evaluate(q.Expression, grid, v)
	v.grid = before
	if err == nil && *v.cells < 0 { // METRICS() leaves out what cannot be read
		err = v.spend(grid)
	}
	for i := range all {
		all[i].Label = cmp.Or(all[i].Label, q.ID)
		if len(all) == 1 {
			all[i].Label = q.ID
		}
	}
	return grid, all, err
}

// metric returns a statistic of a metric over a grid.
func (v *view) metric(m *metricStat, grid metricmath.Grid) (metricmath.Labelled, error) {
	statistic, err := datapoints.ParseStatistic(m.Stat)
	if err != nil {
		return metricmath.Labelled{}, err
	}
	if err := v.spend(grid); err != nil {
		return metricmath.Labelled{}, err
	}
	all, err := v.summaries(m, grid)
	if err != nil {
		return metricmath.Labelled{}, err
	}
	values := make(metricmath.Series, len(all))
	for i := range all {
		values[i] = statistic.Of(&all[i])
	}
	return metricmath.Labelled{Label: m.Metric.Name, Values: values}, nil
}

// summaries returns the data of a metric. If the metric has data in several units and the query names none, the first
// unit is used.
func (v *view) summaries(m *metricStat, grid metricmath.Grid) ([]datapoints.Summary, error) {
	units, err := v.service.units(v.scope, &m.Metric, m.Unit)
	if err != nil || len(units) < 2 { // the most common case by far
		units = []string{m.Unit}
	}
	var first []datapoints.Summary
	var there []string
	for _, unit := range units {
		all, err := v.service.read(v.scope, &m.Metric, unit, grid.Start, grid.Period, grid.Len)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(s datapoints.Summary) bool { return s.Count > 0 }) {
			there = append(there, unit)
		}
		if first == nil || len(there) == 1 && there[0] == unit {
			first = all
		}
	}
	if len(there) > 1 {
		v.several = there
	}
	return first, nil
}

// distinguished returns the label of a metric: its name, with the statistic and the period if other queries for the
// same name differ in them.
func distinguished(queries []metricQuery, m *metricStat) string {
	label, statistic, period := m.Metric.Name, false, false
	for i := range queries {
		if o := queries[i].MetricStat; o != nil && o.Metric.Name == m.Metric.Name && queries[i].returns() {
			statistic, period = statistic || o.Stat != m.Stat, period || o.Period != m.Period
		}
	}
	if statistic {
		label += " " + m.Stat
	}
	if period {
		label += fmt.Sprintf(" %d", m.Period)
	}
	return label
}

// Term implements metricmath.Terms.
func (v *view) Term(id string) ([]metricmath.Labelled, bool, error) {
	for i := range v.queries {
		q := &v.queries[i]
		if q.ID != id {
			continue
		}
		if q.MetricStat != nil {
			l, err := v.metric(q.MetricStat, v.grid)
			return []metricmath.Labelled{l}, false, err
		}
		const deepest = 50
		if v.depth++; v.depth > deepest {
			return nil, false, errors.New("the expressions refer to each other in a circle")
		}
		defer func() { v.depth-- }()
		if err := v.spend(v.grid); err != nil {
			return nil, false, err
		}
		if isInsights(q.Expression) {
			return v.insights(q.Expression, v.grid)
		}
		return metricmath.Evaluate(q.Expression, v.grid, v)
	}
	return nil, false, fmt.Errorf("no metric or expression has the id %s", id)
}

// Metrics implements metricmath.Terms.
func (v *view) Metrics(part string) (all []metricmath.Labelled) {
	for i := range v.queries {
		q := &v.queries[i]
		if q.MetricStat == nil || !strings.Contains(q.ID, part) {
			continue
		}
		if l, err := v.metric(q.MetricStat, v.grid); err == nil {
			all = append(all, l)
		}
	}
	return all
}

// Search implements metricmath.Terms.
func (v *view) Search(query, statistic string, _ time.Duration) ([]metricmath.Labelled, error) {
	found, labels, err := v.service.search(v.scope, query)
	if err != nil {
		return nil, err
	}
	all := make([]metricmath.Labelled, 0, len(found))
	for i, m := range found {
		l, err := v.metric(&metricStat{Metric: m, Stat: statistic}, v.grid)
		if err != nil {
			return nil, err
		}
		l.Label = labels[i]
		all = append(all, l)
	}
	return all, nil
}

// Period implements metricmath.Terms.
func (v *view) Period(id string) (time.Duration, bool) {
	for i := range v.queries {
		if q := &v.queries[i]; q.ID == id {
			return time.Duration(v.period(q)) * time.Second, true
		}
	}
	return 0, false
}
