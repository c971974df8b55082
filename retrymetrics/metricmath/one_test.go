package metricmath_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"stepback/retrymetrics"
	"stepback/retrymetrics/metricmath"
)

var (
	grid  = metricmath.Grid{Start: time.Unix(0, 0).UTC(), Period: time.Minute, Len: 3}
	terms = map[string]metricmath.Series{"a": {1, math.NaN(), 3}, "b": {2, 0, 0}}
)

func TestOne(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"1 + 2 * 3":            "[7 7 7]",
		"(1 + 2) * 3 - 1":      "[8 8 8]",
		"a + b":                "[3 NaN 3]",
		"a / b":                "[0.5 NaN NaN]",
		"FILL(a, 0)":           "[1 0 3]",
		"FILL(a, 1 + 1) * 2":   "[2 4 6]",
		"ABS(DIFF(b))":         "[NaN 2 0]",
		"DIFF(a)":              "[NaN NaN 2]",
		"100 * b / FILL(a, 5)": "[200 0 0]",
		"a >= 3":               "[0 NaN 1]",
		"b < 2":                "[0 1 1]",
		"IF(b > 0, 7, a)":      "[7 NaN 3]",
		"IF(a == 1, b, 100)":   "[2 NaN 100]",
	} {
		got, err := metricmath.One(expression, grid, terms)
		if err != nil || fmt.Sprint([]float64(got)) != want {
			t.Errorf("%s = %v %v, want %s", expression, got, err, want)
		}
	}
	if fmt.Sprint([]float64(terms["a"])) != "[1 NaN 3]" {
		t.Errorf("evaluation changed its term: %v", terms["a"])
	}
}

func TestWhatIsNotOneSeries(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"":                        "column 1: expected a number",
		"a +":                     "column 4: expected a number",
		"a b":                     "column 3: expected an operator",
		"(a":                      "column 3: expected ')'",
		"c":                       `"c" is not the ID of a metric`,
		"MEDIAN(a)":               "MEDIAN is not known",
		"FILL(a)":                 "FILL: takes time series",
		"[a, b]":                  "an array of time series",
		"1.2.3":                   "not a number",
		"é":                       "expected a number",
		strings.Repeat("(", 1000): "nested too deeply",
	} {
		if _, err := metricmath.One(expression, grid, terms); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", expression, err, want)
		}
	}
}

func TestEveryRateCanBeEvaluated(t *testing.T) {
	t.Parallel()
	for _, r := range retrymetrics.Rates() {
		given := map[string]metricmath.Series{}
		for _, term := range r.Terms {
			given[term.ID] = metricmath.Series{4, 2, 2}
		}
		if _, err := metricmath.One(r.Expression, grid, given); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
}

func TestGrid(t *testing.T) {
	t.Parallel()
	g := metricmath.GridOver(time.Unix(59, 0), time.Unix(120, 0), time.Minute)
	if g.Len != 3 || !g.At(2).Equal(time.Unix(120, 0)) {
		t.Errorf("%+v", g)
	}
	s := g.Series([]retrymetrics.Datapoint{{Start: time.Unix(60, 0), Value: 7}, {Start: time.Unix(180, 0), Value: 8},
		{Start: time.Unix(-60, 0), Value: 9}})
	if fmt.Sprint([]float64(s)) != "[NaN 7 NaN]" || s.Empty() || !(metricmath.Series{math.NaN()}).Empty() {
		t.Errorf("%v", s)
	}
}

func FuzzOne(f *testing.F) {
	f.Add("100 * FILL(a, 0) / (a - b)")
	f.Add("ABS(DIFF(FILL(b, 0)))")
	f.Fuzz(func(t *testing.T, expression string) {
		s, err := metricmath.One(expression, grid, terms)
		if err == nil && len(s) != grid.Len {
			t.Errorf("%d values", len(s))
		}
	})
}
