// Package anomaly predicts the expected values of a metric from those of the previous two weeks.
//
// The model is simpler than CloudWatch's, which is not public: the mean and the standard deviation of the values in
// the same hour of the week; if these are too few, of those in the same hour of the day, or else of all values.
package anomaly

import (
	"math"
	"time"
)

// Training is the length of the past that a band considers.
const Training = 14 * 24 * time.Hour

// Enough is the minimum number of values in a group.
const Enough = 10

// group holds sums of values.
type group struct{ n, sum, squares float64 }

func (g *group) add(v, sign float64) {
	g.n += sign
	g.sum += sign * v
	g.squares += sign * v * v
}

// Model is trained with one value at a time.
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

// Range is a time range whose values are excluded.
type Range struct{ Start, End time.Time }

// New returns a model that determines hours in a time zone; nil means UTC.
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

// Train adds a value. Times must not decrease. NaN marks a missing value, which is ignored.
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

// Band returns the lower and the upper end of the expected range at a time, the given number of standard deviations
// from the mean. Both are NaN if there are too few values.
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
