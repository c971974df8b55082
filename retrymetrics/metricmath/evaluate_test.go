package metricmath_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"stepback/retrymetrics/metricmath"
)

var none = math.NaN()

// several resolves m1, m2 and the array s of both.
type several map[string]metricmath.Series

func (t several) Term(id string) ([]metricmath.Labelled, bool, error) {
	if id == "s" {
		return t.Metrics("m"), true, nil
	}
	values, ok := t[id]
	if !ok {
		return nil, false, errors.New("no metric has the id " + id)
	}
	return []metricmath.Labelled{{Label: id, Values: values}}, false, nil
}

func (t several) Metrics(part string) (all []metricmath.Labelled) {
	for _, id := range []string{"m1", "m2"} {
		if strings.Contains(id, part) {
			all = append(all, metricmath.Labelled{Label: id, Values: t[id]})
		}
	}
	return all
}

func (t several) Search(query, statistic string, period time.Duration) ([]metricmath.Labelled, error) {
	if query != "{AWS/States} x" || statistic != "Sum" || period != 5*time.Minute {
		return nil, fmt.Errorf("searched %s, %s, %s", query, statistic, period)
	}
	return t.Metrics(""), nil
}

func (t several) Period(id string) (time.Duration, bool) { return time.Minute, t[id] != nil }

func TestEvaluate(t *testing.T) {
	t.Parallel()
	// 22 November 2026 is a Sunday.
	g := metricmath.Grid{Start: time.Date(2026, 11, 22, 23, 58, 0, 0, time.UTC), Period: time.Minute, Len: 4}
	m := several{"m1": {1, none, 3, 6}, "m2": {10, 20, none, 40}}
	for _, c := range []struct {
		expression string
		want       string
	}{
		{"1 + 2 * 3 ^ 2", "19 19 19 19"}, {"-m1", "-1 - -3 -6"}, {"m1 + m2", "11 - - 46"}, {"m2 / 0", "- - - -"},
		{"FILL(m1, 0)", "1 0 3 6"}, {"FILL(m1, REPEAT)", "1 1 3 6"}, {"FILL(m1, LINEAR)", "1 2 3 6"}, {"FILL(m1, m2)", "1 20 3 6"},
		{"m1 > 2", "0 - 1 1"}, {"m1 > 2 AND m2 > 30", "0 - - 1"}, {"m1 >= 1 || m2 == 0", "1 - - 1"},
		{"IF(m1 > 2, m1, 0)", "0 - 3 6"}, {"IF(FILL(m1,0) > 2, 5)", "- - 5 5"},
		{"SUM(m1)", "10 10 10 10"}, {"SUM(METRICS())", "11 20 3 46"}, {"SUM([m1, m2])", "11 20 3 46"}, {`AVG(METRICS("2"))`, "10 20 - 40"},
		{"MAX(s)", "10 20 3 40"}, {"STDDEV(m1)", "2.0548046676563256 2.0548046676563256 2.0548046676563256 2.0548046676563256"},
		{"DIFF(m1)", "- - 2 3"}, {"DIFF_TIME(m1)", "- - 120 60"}, {"RATE(m1)", "- - 0.016666666666666666 0.05"},
		{"RUNNING_SUM(m1)", "1 1 4 10"}, {"DATAPOINT_COUNT(m1)", "3 3 3 3"}, {"METRIC_COUNT(s)", "2 2 2 2"},
		{"PERIOD(m1)", "60 60 60 60"}, {"m1 / PERIOD(m1)", "0.016666666666666666 - 0.05 0.1"},
		{"FIRST(SORT(s, SUM, DESC))", "10 20 - 40"}, {"LAST(SLICE(s, 0, 1))", "1 - 3 6"},
		{"FIRST(SEARCH('{AWS/States} x', 'Sum', 300))", "1 - 3 6"}, {"HOUR(m1)", "23 23 0 0"}, {"DAY(m1)", "7 7 1 1"},
		{"TIME_SERIES(4)", "4 4 4 4"}, {"CEIL(m1 / 2)", "1 - 2 3"}, {"ABS(0 - m1)", "1 - 3 6"},
	} {
		all, several, err := metricmath.Evaluate(c.expression, g, m)
		if err != nil || several || len(all) != 1 {
			t.Errorf("%s: %v, %v, %v", c.expression, all, several, err)
			continue
		}
		var got []string
		for _, v := range all[0].Values {
			if math.IsNaN(v) {
				got = append(got, "-")
			} else {
				got = append(got, fmt.Sprint(v))
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", c.expression, strings.Join(got, " "), c.want)
		}
	}
	if all, several, err := metricmath.Evaluate("s * 2", g, m); err != nil || !several || len(all) != 2 || all[1].Values[0] != 20 {
		t.Errorf("s * 2: %v, %v, %v", all, several, err)
	}
	for expression, want := range map[string]string{
		"m3": "column 1: no metric has the id m3", "m1 +": "column 5: expected a number, an id, a function or (",
		"ANOMALY_DETECTION_BAND(m1)": "column 1: the function ANOMALY_DETECTION_BAND is not known here",
		"m1 m2":                      "column 4: expected an operator or the end", "FILL(m1)": "column 1: FILL: takes time series, and a number, a time series, REPEAT or LINEAR",
		"'x'": "column 4: the expression is a string", strings.Repeat("(", 200): "column 101: nested too deeply",
	} {
		if _, _, err := metricmath.Evaluate(expression, g, m); err == nil || err.Error() != want {
			t.Errorf("%.40s: %v, want %s", expression, err, want)
		}
	}
}

func FuzzEvaluate(f *testing.F) {
	for _, seed := range []string{"m1 + FILL(m2, 0) / 2", "IF(m1 > 2, SUM(s), -1)", "SEARCH('{AWS/States} x', 'Sum', 300)", "[m1,"} {
		f.Add(seed)
	}
	g := metricmath.Grid{Start: time.Unix(0, 0), Period: time.Minute, Len: 2}
	f.Fuzz(func(_ *testing.T, expression string) {
		_, _, _ = metricmath.Evaluate(expression, g, several{"m1": {1, none}, "m2": {none, 2}})
	})
}
