package render

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"stepback/retrymetrics/metricmath"
)

// Evaluator evaluates queries, including metric math and searches, over the values of plain metrics. It serves sources
// that have no metric math of their own.
type Evaluator struct {
	// Values returns a statistic of a metric for each period of a grid.
	Values func(ctx context.Context, m *metricmath.Metric, stat string, g metricmath.Grid) (metricmath.Series, error)
	// Find returns the metrics that match a search.
	Find func(ctx context.Context, q *metricmath.Search) ([]metricmath.Metric, error)
}

// Metrics implements Source.Metrics. It returns only errors of the context; others are the Problem of a query.
func (e Evaluator) Metrics(ctx context.Context, from, to time.Time, queries []Query) ([]Series, error) {
	var all []Series
	v := evaluation{Evaluator: e, ctx: ctx, queries: queries, kept: map[string]metricmath.Series{}}
	for i := range queries {
		q := &queries[i]
		if q.Hidden {
			continue
		}
		g := gridOf(from, to, q.Period)
		found, err := v.query(q, g)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			all = append(all, Series{ID: q.ID, Label: q.name(), Problem: err.Error()})
			continue
		}
		for _, l := range found {
			s := Series{ID: q.ID, Label: labelOf(q, &l, len(found))}
			for n, x := range l.Values {
				if !math.IsNaN(x) {
					s.Times, s.Values = append(s.Times, g.At(n)), append(s.Values, x)
				}
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// gridOf returns the periods from a time, which begins one of them, up to another time.
func gridOf(from, to time.Time, period time.Duration) metricmath.Grid {
	return metricmath.Grid{Start: from, Period: period, Len: int((to.Sub(from) + period - 1) / period)}
}

// name names a query in a note: its label, its expression or its metric.
func (q *Query) name() string {
	if q.Metric != nil {
		return cmp.Or(q.Label, q.Metric.Namespace+" "+q.Metric.Name)
	}
	return cmp.Or(q.Label, q.Expression)
}

// labelOf returns the label of one of a query's series.
func labelOf(q *Query, l *metricmath.Labelled, of int) string {
	own := l.Label
	switch {
	case q.Metric != nil:
		own = q.Metric.Name
	case of == 1 && !strings.Contains(q.Expression, "SEARCH"):
		own = q.Expression
	}
	if q.Label == "" {
		return own
	}
	return metricmath.Label(q.Label, metricmath.Labelled{Label: own, Values: l.Values})
}

// evaluation evaluates the queries of a widget. It implements metricmath.Terms over its current grid.
type evaluation struct {
	Evaluator
	ctx     context.Context // of the evaluation
	queries []Query
	grid    metricmath.Grid
	depth   int
	kept    map[string]metricmath.Series // values that were fetched
}

func (v *evaluation) query(q *Query, g metricmath.Grid) ([]metricmath.Labelled, error) {
	v.grid = g
	if q.Metric != nil {
		values, err := v.values(q.Metric, q.Stat)
		return []metricmath.Labelled{{Label: q.Metric.Name, Values: values}}, err
	}
	all, _, err := metricmath.Evaluate(q.Expression, g, v)
	return all, err
}

func (v *evaluation) values(m *metricmath.Metric, stat string) (metricmath.Series, error) {
	key := fmt.Sprintf("%v %s %v", *m, stat, v.grid)
	if kept, ok := v.kept[key]; ok {
		return kept, nil
	}
	values, err := v.Values(v.ctx, m, stat, v.grid)
	if err == nil {
		v.kept[key] = values
	}
	return values, err
}

// Term implements metricmath.Terms.
func (v *evaluation) Term(id string) ([]metricmath.Labelled, bool, error) {
	const deepest = 50
	for i := range v.queries {
		q := &v.queries[i]
		if q.ID != id {
			continue
		}
		if q.Metric != nil {
			values, err := v.values(q.Metric, q.Stat)
			return []metricmath.Labelled{{Label: id, Values: values}}, false, err
		}
		if v.depth++; v.depth > deepest {
			return nil, false, errors.New("the expressions refer to each other in a circle")
		}
		defer func() { v.depth-- }()
		return metricmath.Evaluate(q.Expression, v.grid, v)
	}
	return nil, false, fmt.Errorf("no metric or expression has the id %s", id)
}

// Metrics implements metricmath.Terms. It shadows the method of Evaluator.
func (v *evaluation) Metrics(part string) (all []metricmath.Labelled) {
	for i := range v.queries {
		q := &v.queries[i]
		if q.Metric == nil || !strings.Contains(q.ID, part) {
			continue
		}
		if values, err := v.values(q.Metric, q.Stat); err == nil {
			all = append(all, metricmath.Labelled{Label: q.ID, Values: values})
		}
	}
	return all
}

// Search implements metricmath.Terms.
func (v *evaluation) Search(query, statistic string, _ time.Duration) ([]metricmath.Labelled, error) {
	q, err := metricmath.ParseSearch(query)
	if err != nil {
		return nil, err
	}
	found, err := v.Find(v.ctx, q)
	if err != nil {
		return nil, err
	}
	labels := q.Labels(found)
	all := make([]metricmath.Labelled, 0, len(found))
	for i := range found {
		values, err := v.values(&found[i], statistic)
		if err != nil {
			return nil, err
		}
		all = append(all, metricmath.Labelled{Label: labels[i], Values: values})
	}
	return all, nil
}

// Period implements metricmath.Terms.
func (v *evaluation) Period(id string) (time.Duration, bool) {
	for i := range v.queries {
		if v.queries[i].ID == id {
			return v.grid.Period, true
		}
	}
	return 0, false
}
