package cloudwatch

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"stepback/aws"
	"stepback/retrymetrics/metricmath"
)

// checkMath rejects the metrics of an alarm if one of their expressions cannot be evaluated, and if the expression that
// the alarm compares is an array of time series or a SEARCH, which alarms cannot have ("Create an alarm based on a
// metric math expression").
func (a *alarm) checkMath() error {
	const most = 10
	metrics := 0
	for i := range a.Metrics {
		if a.Metrics[i].MetricStat != nil {
			metrics++
		}
	}
	if metrics > most {
		return &aws.Error{Code: "ValidationError", Message: fmt.Sprintf("An alarm can have at most %d metrics.", most)}
	}
	v := &view{queries: a.Metrics}
	for i := range a.Metrics {
		q := &a.Metrics[i]
		if q.MetricStat != nil {
			continue
		}
		_, several, err := (&placeholders{view: v}).Term(q.ID)
		if err == nil && several && q.returns() && q.ID != a.Band {
			err = errors.New("an alarm compares one time series, and the expression has an array of them")
		}
		if err != nil {
			return &aws.Error{Code: "ValidationError", Message: fmt.Sprintf("Error in expression '%s': %s", q.ID, err)}
		}
	}
	return nil
}

// placeholders implements metricmath.Terms for the queries of a view: each metric has one period without a value.
type placeholders struct {
	view  *view
	depth int
}

func noValue(label string) metricmath.Labelled {
	return metricmath.Labelled{Label: label, Values: metricmath.Series{math.NaN()}}
}

// Term implements metricmath.Terms.
func (p *placeholders) Term(id string) ([]metricmath.Labelled, bool, error) {
	q := p.view.find(id)
	if q == nil {
		return nil, false, fmt.Errorf("no metric or expression has the id %s", id)
	}
	const deepest = 50
	if p.depth++; p.depth > deepest {
		return nil, false, errors.New("the expressions refer to each other in a circle")
	}
	defer func() { p.depth-- }()
	banded, _, isBand := bandOf(q.Expression)
	switch {
	case q.MetricStat != nil:
		return []metricmath.Labelled{noValue(id)}, false, nil
	case isBand && p.view.find(banded) == nil:
		return nil, false, fmt.Errorf("no metric or expression has the id %s", banded)
	case isBand:
		return []metricmath.Labelled{noValue(id), noValue(id)}, true, nil
	case isInsights(q.Expression):
		parsed, err := parseInsights(q.Expression)
		if err != nil {
			return nil, false, err
		}
		return []metricmath.Labelled{noValue(id)}, len(parsed.groupBy) > 0, nil
	}
	return metricmath.Evaluate(q.Expression, metricmath.Grid{Start: time.Unix(0, 0), Period: time.Minute, Len: 1}, p)
}

// Metrics implements metricmath.Terms.
func (p *placeholders) Metrics(part string) (all []metricmath.Labelled) {
	for i := range p.view.queries {
		if q := &p.view.queries[i]; q.MetricStat != nil && strings.Contains(q.ID, part) {
			all = append(all, noValue(q.ID))
		}
	}
	return all
}

// Search implements metricmath.Terms.
func (p *placeholders) Search(string, string, time.Duration) ([]metricmath.Labelled, error) {
	return nil, errors.New("SEARCH is not supported on Metric Alarms.") //nolint:revive,staticcheck // AWS's wording
}

// Period implements metricmath.Terms.
func (p *placeholders) Period(id string) (time.Duration, bool) { return p.view.Period(id) }
