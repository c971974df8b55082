package anomaly_test

import (
	"math"
	"testing"
	"time"

	"stepback/local/services/cloudwatch/anomaly"
)

var start = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC) // a Monday

func TestNothingIsExpectedOfFewValues(t *testing.T) {
	t.Parallel()
	m := anomaly.New(nil, nil)
	for i := range anomaly.Enough - 1 {
		m.Train(start.Add(time.Duration(i)*time.Minute), 5)
	}
	if lower, upper := m.Band(start.Add(time.Hour), 2); !math.IsNaN(lower) || !math.IsNaN(upper) {
		t.Errorf("%v to %v of nine values", lower, upper)
	}
}

func TestTheHourOfTheDayCounts(t *testing.T) {
	t.Parallel()
	m := anomaly.New(nil, nil)
	for i := range 7 * 24 * 12 {
		at := start.Add(time.Duration(i) * 5 * time.Minute)
		value := 10 + float64(i%2)*2 // 10 and 12: mean 11, deviation 1
		if at.Hour() == 9 {
			value += 90
		}
		m.Train(at, value)
	}
	for at, want := range map[time.Time][2]float64{
		start.Add(7*24*time.Hour + 3*time.Hour): {9, 13}, start.Add(7*24*time.Hour + 9*time.Hour): {99, 103},
	} {
		if lower, upper := m.Band(at, 2); math.Abs(lower-want[0]) > 1e-6 || math.Abs(upper-want[1]) > 1e-6 {
			t.Errorf("%s: %v to %v, want %v", at, lower, upper, want)
		}
	}
}

func TestOldAndExcludedValuesDoNotCount(t *testing.T) {
	t.Parallel()
	excluded := anomaly.Range{Start: start.Add(15 * 24 * time.Hour), End: start.Add(15*24*time.Hour + 20*time.Minute)}
	m := anomaly.New(nil, []anomaly.Range{excluded})
	for i := range 20 {
		m.Train(start.Add(time.Duration(i)*time.Minute), 1000)
	}
	for i := range 40 {
		value := 3.0
		if i < 20 {
			value = 500
		}
		m.Train(start.Add(15*24*time.Hour+time.Duration(i)*time.Minute), value)
	}
	if lower, upper := m.Band(start.Add(16*24*time.Hour), 2); lower != 3 || upper != 3 {
		t.Errorf("%v to %v, want 3", lower, upper)
	}
}
