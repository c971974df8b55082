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

// Thirty equal values allow for another kind of seed with a probability of 1 − 0.025^(1/30) = 11.6 %, and no longer end
// at the mean by chance: they say nothing about seeds on the side of the farther bound.
func TestEqualValuesDoNotProveThatAllSeedsAreEqual(t *testing.T) {
	t.Parallel()
	many := func(values map[float64]int) (all []float64) {
		for v, n := range values {
			for range n {
				all = append(all, v)
			}
		}
		return all
	}
	for _, c := range []struct {
		name                string
		values              []float64
		low, high           float64 // bounds
		from, to, tolerance float64
	}{
		{"all saved", many(map[float64]int{1: 30}), 0, 1, 0.8843, 1, 0.01},
		{"all lost", many(map[float64]int{0: 30}), 0, 1, 0, 0.1157, 0.01},
		{"17 % in all", many(map[float64]int{0.17: 30}), 0, 1, 0.17, 0.2660, 0.01},
		{"gain in all", many(map[float64]int{0.8: 30}), -1, 1, 0.5917, 0.8, 0.02},
		{"half and half", many(map[float64]int{0: 15, 1: 15}), 0, 1, 0.313, 0.687, 0.03},
		{"no bounds", many(map[float64]int{7: 30}), math.Inf(-1), math.Inf(1), 7, 7, 1e-9},
	} {
		e := statistics.MeanWithin(c.values, c.low, c.high)
		if math.Abs(e.Low-c.from) > c.tolerance || math.Abs(e.High-c.to) > c.tolerance || e.N != 30 {
			t.Errorf("%s: %.4f to %.4f, want %.4f to %.4f", c.name, e.Low, e.High, c.from, c.to)
		}
	}
	few := statistics.MeanWithin([]float64{1, math.NaN()}, 0, 1)
	if few.Mean != 1 || few.N != 1 || !math.IsNaN(few.Low) {
		t.Errorf("one value: %+v, want a mean without an interval", few)
	}
	one := statistics.MeanWithin([]float64{1, 1, 1, 1, 0.2, 1, 1, 1, 1, 1}, 0, 1)
	again := statistics.MeanWithin([]float64{0.2, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 0, 1)
	if one != again {
		t.Errorf("the order of the values matters: %+v and %+v", one, again)
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
	if got := fmt.Sprint(same, other, single); got != "1 0.5 NaN" {
		t.Errorf("degenerate p-values are %s", got)
	}
}

func ExampleMean() {
	e := statistics.Mean([]float64{9, 10, 11})
	fmt.Printf("%.1f, 95 %% interval %.2f to %.2f", e.Mean, e.Low, e.High)
	// Output: 10.0, 95 % interval 7.52 to 12.48
}
