package metricmath

import (
	"fmt"
	"time"
)

// One evaluates an expression whose result is a single series over a grid. Each term is a single series too. If the
// expression cannot be evaluated, the error gives the position and the reason. SEARCH and METRICS find nothing.
func One(expression string, g Grid, terms map[string]Series) (Series, error) {
	all, several, err := Evaluate(expression, g, seriesTerms{g, terms})
	if err == nil && (several || len(all) != 1) {
		err = fmt.Errorf("metric math %q: the expression is %s", expression, kinds[list])
	}
	if err != nil {
		return nil, err
	}
	return all[0].Values, nil
}

// seriesTerms implements [Terms] for series by their ids.
type seriesTerms struct {
	grid  Grid
	terms map[string]Series
}

// Term implements [Terms].
func (n seriesTerms) Term(id string) (all []Labelled, several bool, err error) {
	s, ok := n.terms[id]
	if !ok {
		return nil, false, fmt.Errorf("%q is not the ID of a metric", id)
	}
	return []Labelled{{Label: id, Values: s}}, false, nil
}

// Metrics implements [Terms].
func (n seriesTerms) Metrics(string) []Labelled { return nil }

// Search implements [Terms].
func (n seriesTerms) Search(string, string, time.Duration) ([]Labelled, error) { return nil, nil }

// Period implements [Terms].
func (n seriesTerms) Period(id string) (time.Duration, bool) {
	_, ok := n.terms[id]
	return n.grid.Period, ok
}
