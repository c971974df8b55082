package statistics_test

import (
	"fmt"
	"math"
	"testing"

	"stepback/adaptive/lab/draw"
	"stepback/adaptive/lab/statistics"
)

func TestTQuantileMatchesTheTables(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]float64{1: 12.706, 2: 4.303, 5: 2.571, 29: 2.045, 100: 1.984, 10000: 1.960} {
		if got := statistics.TQuantile(0.975, n); math.Abs(got-want) > 0.001 {
			t.Errorf("t quantile of %d degrees is %.4f, want %.3f", n, got, want)
		}
	}
}

func TestIntervalsCoverTheTruth(t *testing.T) {
	t.Parallel()
	s := draw.Of(1, 1, 1, 1)
	const trials = 400
	means, medians := 0, 0
	for range trials {
		values := make([]float64, 30)
		for i := range values {
			values[i] = s.Exp()
		}
		if e := statistics.Mean(values); e.Low <= 1 && 1 <= e.High {
			means++
		}
		if e := statistics.Median(values); e.Low <= math.Ln2 && math.Ln2 <= e.High {
			medians++
		}
	}
	if means < trials*88/100 || medians < trials*88/100 {
		t.Errorf("intervals cover the mean %d and the median %d times of %d, want about 95 %%", means, medians, trials)
	}
}

func TestCensoredValuesAreNeverAveraged(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	for _, c := range []struct {
		values []float64
		want   string
	}{
		{[]float64{1, 2, 3, inf, inf}, "3"},
		{[]float64{1, 2, inf, inf, inf}, "+Inf"},
		{[]float64{math.NaN(), 4, 6}, "5"},
		{nil, "NaN"},
	} {
		if got := fmt.Sprint(statistics.Median(c.values).Mean); got != c.want {
			t.Errorf("median of %v is %s, want %s", c.values, got, c.want)
		}
	}
	d := statistics.Differences([]float64{inf, 1, inf}, []float64{1, inf, inf})
	if got := fmt.Sprint(d); got != "[+Inf -Inf NaN]" {
		t.Errorf("differences are %s, want +Inf, -Inf, NaN", got)
	}
}

func TestHolmAndPValues(t *testing.T) {
	t.Parallel()
	got := fmt.Sprintf("%.3f", statistics.Holm([]float64{0.04, 0.01, math.NaN(), 0.03}))
	if got != "[0.060 0.030 NaN 0.060]" {
		t.Errorf("adjusted values are %s", got)
	}
	// Mean 2, deviation 1, four values: t = 4 with 3 degrees of freedom.
	if p := statistics.PValue([]float64{1, 3, 2 - math.Sqrt(0.5), 2 + math.Sqrt(0.5)}); math.Abs(p-0.028) > 0.001 {
		t.Errorf("p-value is %.4f, want 0.028", p)
	}
	same, other := statistics.PValue([]float64{0, 0}), statistics.PValue([]float64{1, 1})
	single := statistics.PValue([]float64{1})
	if got := fmt.Sprint(same, other, single); got != "1 0 NaN" {
		t.Errorf("degenerate p-values are %s", got)
	}
}

func ExampleMean() {
	e := statistics.Mean([]float64{9, 10, 11})
	fmt.Printf("%.1f, 95 %% interval %.2f to %.2f", e.Mean, e.Low, e.High)
	// Output: 10.0, 95 % interval 7.52 to 12.48
}
