// Package anomaly tells what values of a metric are to be expected, by those of the two weeks before.
//
// The model is simpler than CloudWatch's, which is not public: the mean and the standard deviation of the values in the
// same hour of the week, of those in the same hour of the day where these are too few, or else of all of them.
package anomaly

import (
	"math"
	"time"
)

// Training is how much of the past a band looks at.
const Training = 14 * 24 * time.Hour

// Enough is how many values a group must have to count.
const Enough = 10

// group is the sums of values.
type group struct{ n, sum, squares float64 }

func (g *group) add(v, sign float64) {
	g.n += sign
	g.sum += sign * v
	g.squares += sign * v * v
}

// Model is trained with one value after the other.
type Model struct {
	zone     *time.Location
	weekly   [7 * 24]group
	daily    [24]group
	all      group
	trained  []sample
	forgiven []Range
}

type sample struct {
	at    time.Time
	value float64
}

// Range is a time whose values do not count.
type Range struct{ Start, End time.Time }

// New makes a model that takes hours in a time zone; nil means UTC.
func New(zone *time.Location, excluded []Range) *Model {
	if zone == nil {
		zone = time.UTC
	}
	return &Model{zone: zone, forgiven: excluded}
}

func (m *Model) groups(at time.Time) [3]*group {
	local := at.In(m.zone)
	return [3]*group{&m.weekly[int(local.Weekday())*24+local.Hour()], &m.daily[local.Hour()], &m.all}
}

// Train takes a value in; times must not go back. NaN is a missing value.
func (m *Model) Train(at time.Time, value float64) {
	if math.IsNaN(value) {
		return
	}
	for _, r := range m.forgiven {
		if !at.Before(r.Start) && at.Before(r.End) {
			return
		}
	}
	for _, g := range m.groups(at) {
		g.add(value, 1)
	}
	m.trained = append(m.trained, sample{at, value})
}

// Band is the lower and the upper end of what is expected at an instant, so many standard deviations from the mean.
// Both are NaN when too little is known.
func (m *Model) Band(at time.Time, deviations float64) (lower, upper float64) {
	old := 0
	for old < len(m.trained) && m.trained[old].at.Before(at.Add(-Training)) {
		for _, g := range m.groups(m.trained[old].at) {
			g.add(m.trained[old].value, -1)
		}
		old++
	}
	m.trained = m.trained[old:]
	for _, g := range m.groups(at) {
		if g.n < Enough {
			continue
		}
		mean := g.sum / g.n
		width := deviations * math.Sqrt(max(0, g.squares/g.n-mean*mean))
		return mean - width, mean + width
	}
	return math.NaN(), math.NaN()
}
