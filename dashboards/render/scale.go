package render

import (
	"math"
	"time"
)

// scale is a vertical axis: values from bottom to top.
type scale struct{ bottom, top float64 }

// fit returns the axis for lines, stacked or not, and marks. The limits of the body win. It begins at 0 unless there
// are negative values.
func fit(lines []*Line, stacked bool, marks []mark, a axis) scale {
	lowest, highest := 0.0, 0.0
	sums := map[time.Time]float64{}
	for _, l := range lines {
		for i, v := range l.Values {
			lowest, highest = min(lowest, v), max(highest, v)
			if stacked && v > 0 {
				at := l.Times[i]
				sums[at] += v
				highest = max(highest, sums[at])
			}
		}
	}
	for _, m := range marks {
		lowest, highest = min(lowest, m.Value*1.05), max(highest, m.Value*1.05) // with space for its label
	}
	s := scale{-nice(-lowest), nice(highest)}
	if lowest >= 0 {
		s.bottom = 0
	}
	if highest <= 0 && lowest < 0 {
		s.top = 0
	}
	if a.Max != nil {
		s.top = *a.Max
	}
	if a.Min != nil {
		s.bottom = *a.Min
	}
	if !(s.top > s.bottom) {
		s.top = s.bottom + 1
	}
	return s
}

// share returns where a value is between the bottom and the top, from 0 to 1.
func (s scale) share(v float64) float64 { return (s.within(v) - s.bottom) / (s.top - s.bottom) }

// within returns the value, or the limit of the axis that it exceeds.
func (s scale) within(v float64) float64 { return min(max(v, s.bottom), s.top) }

// nice returns the smallest of 1, 1.2, 1.6, 2, 3, 4, 6, 8 × 10ⁿ that is at least v. Each of these is easily divided
// by four.
func nice(v float64) float64 {
	if v <= 0 {
		return 1
	}
	base := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 1.2, 1.6, 2, 3, 4, 6, 8} {
		if v <= f*base {
			return f * base
		}
	}
	return 10 * base
}
