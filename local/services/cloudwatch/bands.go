package cloudwatch

import (
	"fmt"
	"strconv"
	"time"

	"stepback/internal/lazyregexp"
	"stepback/local/services/cloudwatch/anomaly"
	"stepback/retrymetrics/metricmath"
)

// banded matches a band and captures its metric and its number of standard deviations. A band is always a whole
// expression: CloudWatch does not allow it inside another function.
var banded = lazyregexp.New(`^\s*ANOMALY_DETECTION_BAND\(\s*([a-z][a-zA-Z0-9_]*)\s*(?:,\s*([0-9.]+)\s*)?\)\s*$`)

// bandOf returns the ID of the metric or expression for which an expression is a band, and its number of standard
// deviations.
func bandOf(expression string) (id string, deviations float64, ok bool) {
	const usual = 2
	m := banded.FindStringSubmatch(expression)
	if m == nil {
		return "", 0, false
	}
	if m[2] == "" {
		return m[1], usual, true
	}
	deviations, err := strconv.ParseFloat(m[2], 64)
	return m[1], deviations, err == nil && deviations > 0
}

func (v *view) find(id string) *metricQuery {
	for i := range v.queries {
		if v.queries[i].ID == id {
			return &v.queries[i]
		}
	}
	return nil
}

// band returns the upper and the lower end of the expected range of a metric or an expression.
func (v *view) band(id string, deviations float64, grid metricmath.Grid) ([]metricmath.Labelled, error) {
	q := v.find(id)
	if q == nil {
		return nil, fmt.Errorf("no metric or expression has the id %s", id)
	}
	before := *v
	before.start = grid.Start.Add(-anomaly.Training)
	before.end = grid.Start.Add(time.Duration(grid.Len) * grid.Period)
	past, all, err := before.query(q)
	if err != nil {
		return nil, err
	}
	if len(all) != 1 {
		return nil, fmt.Errorf("ANOMALY_DETECTION_BAND is of one time series: %s has %d", id, len(all))
	}
	detector, err := v.service.detectorOf(v.scope, q, v.queries)
	if err != nil {
		return nil, err
	}
	model := detector.model()
	upper, lower := make(metricmath.Series, grid.Len), make(metricmath.Series, grid.Len)
	for i, n := 0, 0; i < grid.Len; i++ {
		for ; n < past.Len && past.At(n).Before(grid.At(i)); n++ {
			model.Train(past.At(n), all[0].Values[n])
		}
		lower[i], upper[i] = model.Band(grid.At(i), deviations)
	}
	return []metricmath.Labelled{{Label: all[0].Label + " (expected high)", Values: upper},
		{Label: all[0].Label + " (expected low)", Values: lower}}, nil
}
