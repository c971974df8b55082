// Package statistics turns the measurements of many seeds into estimates with 95 % intervals, and pairs of
// measurements into differences. Sums are computed in the order of the seeds, and the bootstrap draws from a fixed
// key, so the same measurements always give the same estimates.
package statistics

import (
	"math"
	"slices"

	"stepback/adaptive/lab/draw"
)

// Estimate is an estimate with its 95 % interval. A value is NaN if it cannot be computed, because nothing was
// measured or more than half of the values are censored. With a single measurement the interval is NaN.
type Estimate struct {
	Mean, Low, High float64
	// N is the number of measurements used.
	N int
}

// resamples is the number of bootstrap samples.
const resamples = 10_000

// Mean estimates the mean, with an interval by Student's t. The interval holds if the values vary like those of one
// regime; use [MeanWithin] if some seeds may tip over. NaNs are ignored.
func Mean(values []float64) Estimate {
	n, mean, deviation := moments(values)
	if n == 0 {
		return Estimate{math.NaN(), math.NaN(), math.NaN(), 0}
	}
	if n == 1 {
		return Estimate{mean, math.NaN(), math.NaN(), 1}
	}
	half := TQuantile(0.975, n-1) * deviation / math.Sqrt(float64(n))
	return Estimate{mean, mean - half, mean + half, n}
}

// moments returns the number of values that are not NaN, their mean and their standard deviation.
func moments(values []float64) (n int, mean, deviation float64) {
	for _, v := range values {
		if !math.IsNaN(v) {
			n++
			mean += v
		}
	}
	if n == 0 {
		return 0, 0, 0
	}
	mean /= float64(n)
	squares := 0.0
	for _, v := range values {
		if !math.IsNaN(v) {
			squares += (v - mean) * (v - mean)
		}
	}
	return n, mean, math.Sqrt(squares / float64(max(n-1, 1)))
}

// Median estimates the median with a percentile bootstrap. Infinite values are censored: they count as larger (or
// smaller) than all others, so the median is correct as long as fewer than half are censored. A median or bound that
// is itself censored is infinite. NaNs are ignored.
func Median(values []float64) Estimate {
	kept := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	n := len(kept)
	if n == 0 {
		return Estimate{math.NaN(), math.NaN(), math.NaN(), 0}
	}
	slices.Sort(kept)
	e := Estimate{Mean: middle(kept), Low: math.NaN(), High: math.NaN(), N: n}
	if n == 1 {
		return e
	}
	stream := draw.Of(uint64(n), forMedian, 0, 0)
	medians := make([]float64, resamples)
	counts := make([]int, n)
	for i := range medians {
		clear(counts)
		for range n {
			counts[int(stream.Float()*float64(n))]++
		}
		medians[i] = weighted(kept, counts)
	}
	slices.Sort(medians)
	e.Low, e.High = medians[resamples*25/1000], medians[resamples*975/1000-1]
	return e
}

func middle(sorted []float64) float64 {
	n := len(sorted)
	return between(sorted[(n-1)/2], sorted[n/2])
}

// weighted returns the median of a sample that contains each sorted value as often as counts gives.
func weighted(sorted []float64, counts []int) float64 {
	n := len(sorted)
	lower, seen := math.NaN(), 0
	for i, c := range counts {
		seen += c
		if math.IsNaN(lower) && seen > (n-1)/2 {
			lower = sorted[i]
		}
		if seen > n/2 {
			return between(lower, sorted[i])
		}
	}
	return lower
}

// between returns the mean of two values, one of which may be infinite.
func between(a, b float64) float64 {
	if a == b {
		return a
	}
	return (a + b) / 2
}

// Differences returns a − b, pair by pair. If a pair contains a NaN, or both sides are censored, the difference is
// NaN. If one side is censored, the difference is infinite.
func Differences(a, b []float64) []float64 {
	d := make([]float64, min(len(a), len(b)))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return d
}

// PValue returns the two-sided p-value of a paired t-test for the hypothesis that the mean of the differences is 0.
// It is NaN for fewer than two values and 1 if all are 0. If all n are equal and not 0 it is 2^(1−n), the p-value of a
// test that flips their signs: equal differences do not prove that the next one is equal, too.
func PValue(differences []float64) float64 {
	n, mean, deviation := moments(differences)
	switch {
	case n < 2:
		return math.NaN()
	case deviation == 0 && mean == 0:
		return 1
	case deviation == 0:
		return math.Pow(2, float64(1-n))
	}
	t := math.Abs(mean) / (deviation / math.Sqrt(float64(n)))
	return 2 * (1 - tCDF(t, n-1))
}

// Holm adjusts p-values for multiple comparisons by Holm's method; compare each adjusted value with 0.05. NaNs stay
// NaN and do not count.
func Holm(p []float64) []float64 {
	adjusted := slices.Clone(p)
	var order []int
	for i := range p {
		if !math.IsNaN(p[i]) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	highest := 0.0
	for rank, i := range order {
		highest = max(highest, min(1, float64(len(order)-rank)*p[i]))
		adjusted[i] = highest
	}
	return adjusted
}

// TQuantile returns a quantile of Student's t with n degrees of freedom; q must be above one half.
func TQuantile(q float64, n int) float64 {
	lo, hi := 0.0, 1e4
	for range 200 {
		mid := (lo + hi) / 2
		if tCDF(mid, n) < q {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// tCDF returns the cumulative distribution function of Student's t at t ≥ 0.
func tCDF(t float64, n int) float64 {
	df := float64(n)
	return 1 - incompleteBeta(df/2, 0.5, df/(df+t*t))/2
}

// incompleteBeta returns the regularized incomplete beta function, by Lentz's continued fraction.
func incompleteBeta(a, b, x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - incompleteBeta(b, a, 1-x)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(math.Log(x)*a+math.Log(1-x)*b+lab-la-lb) / a
	const tiny = 1e-300
	f, c, d := 1.0, 1.0, 0.0
	for i := range 300 {
		m := float64(i / 2)
		var numerator float64
		switch {
		case i == 0:
			numerator = 1
		case i%2 == 0:
			numerator = m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		default:
			numerator = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		}
		d = 1 + numerator*d
		if math.Abs(d) < tiny {
			d = tiny
		}
		d = 1 / d
		c = 1 + numerator/c
		if math.Abs(c) < tiny {
			c = tiny
		}
		f *= c * d
		if math.Abs(1-c*d) < 1e-14 {
			break
		}
	}
	return front * (f - 1)
}
