package statistics

import (
	"math"
	"slices"

	"stepback/adaptive/lab/draw"
)

const (
	// miss is the probability with which an interval does not contain the truth.
	miss = 0.05
	// simulated is the number of means that MeanWithin draws to find the ends of an interval.
	simulated = 2000
	// outlying is the distance from the median, in standard deviations of the bulk, from which a value belongs to
	// another regime.
	outlying = 6
	// madToDeviation converts the median absolute deviation of a normal distribution to its standard deviation.
	madToDeviation = 1.482602218505602
)

// The purposes of random numbers. The values must not change, so that reports stay reproducible.
const (
	forMedian draw.Purpose = iota + 1
	forRegimes
)

// MeanWithin estimates the mean of a quantity that lies between low and high, with an interval that also holds for
// mixtures of two regimes: most seeds have nearly the same value, and a few, or one in hundreds that was never drawn,
// have a very different one. A service that tips over in some seeds has such a mixture, and Student's interval is far
// too narrow for it. low or high may be infinite; a regime on that side that no seed shows is then not covered. NaNs
// are ignored. With a single value the interval is NaN.
//
// The end towards the farther bound assumes that the next seed would have had the value of that bound: it is the
// bound of Gaffke (2005), which becomes that of Clopper and Pearson if all values are low or high. With 30 equal
// values it allows for a regime with a probability of 11.6 %. The other end combines Student's t for the bulk with a
// bound for the share of the seeds in other regimes, which Stevens' randomization makes exact: without it, the
// coverage for rare regimes would depend on the number of seeds by chance. Its random number is derived from the
// values. The other end gets what the end towards the bound does not use of the 5 %: all of it while the other regime
// is rare.
func MeanWithin(values []float64, low, high float64) Estimate {
	n, mean, _ := moments(values)
	if n < 2 {
		return Mean(values)
	}
	kept := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	slices.Sort(kept)
	r := regimesOf(kept, low, high)
	e := Estimate{Mean: mean, N: n}
	if r.down {
		e.Low, e.High = r.interval(kept)
	} else {
		// Mirror the values, so that the farther bound is below.
		mirrored := make([]float64, n)
		for i, v := range kept {
			mirrored[n-1-i] = -v
		}
		m := regimesOf(mirrored, -high, -low)
		m.down = true
		a, b := m.interval(mirrored)
		e.Low, e.High = 0-b, 0-a
	}
	e.Low, e.High = max(min(e.Low, mean), low), min(max(e.High, mean), high)
	return e
}

// regimes describes sorted values: the bulk values[from:to], and the bounds.
type regimes struct {
	from, to  int
	low, high float64
	down      bool // the farther finite bound is below
}

func regimesOf(sorted []float64, low, high float64) regimes {
	median := middle(sorted)
	distances := make([]float64, len(sorted))
	for i, v := range sorted {
		distances[i] = math.Abs(v - median)
	}
	slices.Sort(distances)
	reach := outlying * madToDeviation * middle(distances)
	r := regimes{from: 0, to: len(sorted), low: low, high: high}
	for r.from < r.to && median-sorted[r.from] > reach {
		r.from++
	}
	for r.to > r.from && sorted[r.to-1]-median > reach {
		r.to--
	}
	below, above := median-low, high-median
	switch {
	case math.IsInf(below, 0) && math.IsInf(above, 0):
		r.down = r.from >= len(sorted)-r.to // the side with more outliers
	case math.IsInf(below, 0) || math.IsInf(above, 0):
		r.down = math.IsInf(above, 0)
	default:
		r.down = below >= above
	}
	return r
}

// interval returns both ends for values whose farther bound is below.
func (r *regimes) interval(sorted []float64) (low, high float64) {
	n := len(sorted)
	bulk, lower, upper := sorted[r.from:r.to], sorted[:r.from], sorted[r.to:]
	size, center, deviation := moments(bulk)
	stream := draw.Of(keyOf(sorted), forRegimes, uint64(n), 0)
	u := stream.Float()
	lows, highs, shares := make([]float64, simulated), make([]float64, simulated), make([]float64, simulated)
	for i := range simulated {
		middle := center
		if deviation > 0 {
			freedom := float64(size - 1)
			middle += deviation / math.Sqrt(float64(size)) * stream.Normal() /
				math.Sqrt(stream.Gamma(freedom/2)*2/freedom)
		}
		// The weights of a Dirichlet distribution: one for each value, and one for the next seed's.
		var below, above, weightBelow, weightAbove float64
		for _, v := range lower {
			w := stream.Exp()
			weightBelow += w
			below += w * v
		}
		for _, v := range upper {
			w := stream.Exp()
			weightAbove += w
			above += w * v
		}
		weight, next, pick := stream.Gamma(float64(size)), stream.Exp(), stream.Float()
		total := weight + weightBelow + weightAbove + next
		known := below + above + weight*middle
		lows[i] = (known + next*r.worst(sorted)) / total
		nearest := middle
		switch {
		case len(upper) > 0:
			nearest = sorted[n-1]
		case len(lower) > 0 && pick >= u:
			nearest = lower[int((pick-u)/(1-u)*float64(len(lower)))]
			weightBelow += next
		}
		highs[i], shares[i] = (known+next*nearest)/total, weightBelow/total
	}
	slices.Sort(lows)
	slices.Sort(highs)
	slices.Sort(shares)
	alpha := miss / 2
	if !math.IsInf(r.low, 0) && len(upper) == 0 {
		for range 3 {
			alpha = miss - lowTail(n, shares[int(alpha*simulated)])
		}
	}
	return lows[int(miss/2*simulated)], highs[simulated-1-int(alpha*simulated)]
}

// lowTail returns the probability with which an end towards the bound misses a regime of probability p: the largest
// probability of at most k of n seeds that does not exceed half of miss, or 0 if even k = 0 exceeds it.
func lowTail(n int, p float64) float64 {
	term, sum := math.Pow(1-p, float64(n)), 0.0
	for k := 0; k < n && sum+term <= miss/2; k++ {
		sum += term
		term *= float64(n-k) / float64(k+1) * p / (1 - p)
	}
	return sum
}

// worst returns the value of the next seed that is assumed for the lower end.
func (r *regimes) worst(sorted []float64) float64 {
	if math.IsInf(r.low, 0) {
		return sorted[0]
	}
	return r.low
}

// keyOf returns a seed that depends on the values only.
func keyOf(sorted []float64) uint64 {
	var key uint64
	for i, v := range sorted {
		key = draw.Bits(key, forRegimes, math.Float64bits(v), uint64(i))
	}
	return key
}
