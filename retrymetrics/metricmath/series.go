package metricmath

import (
	"math"
	"time"

	"stepback/retrymetrics"
)

// Series holds one value for each of consecutive periods; NaN means that a period has no value.
type Series []float64

// Grid is a sequence of consecutive periods.
type Grid struct {
	Start  time.Time
	Period time.Duration
	Len    int
}

// GridOver returns the smallest grid that contains both from and to.
func GridOver(from, to time.Time, period time.Duration) Grid {
	start := from.Truncate(period)
	return Grid{start, period, int(to.Truncate(period).Sub(start)/period) + 1}
}

// At returns the start of a period.
func (g Grid) At(i int) time.Time { return g.Start.Add(time.Duration(i) * g.Period) }

// Series places datapoints on the grid.
func (g Grid) Series(points []retrymetrics.Datapoint) Series {
	s := g.constant(math.NaN())
	for _, p := range points {
		if i := int(p.Start.Sub(g.Start) / g.Period); !p.Start.Before(g.Start) && i < g.Len {
			s[i] = p.Value
		}
	}
	return s
}

// constant returns a series with the same value in every period.
func (g Grid) constant(v float64) Series {
	s := make(Series, g.Len)
	for i := range s {
		s[i] = v
	}
	return s
}

// Empty reports whether no period has a value.
func (s Series) Empty() bool {
	for _, v := range s {
		if !math.IsNaN(v) {
			return false
		}
	}
	return true
}
