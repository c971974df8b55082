package alarms

import (
	"math"
	"slices"
	"time"

	"stepback/retrymetrics"
	"stepback/retrymetrics/metricmath"
)

// State is the state of an alarm.
type State string

// The states.
const (
	OK               State = "OK"
	Alarming         State = "ALARM"
	InsufficientData State = "INSUFFICIENT_DATA"
)

// Change is an alarm's change of state, at the end of the period that caused it.
type Change struct {
	At    time.Time
	State State
	// Since is the time of the first datapoint that breached, if State is ALARM: that of the first value that the
	// breaching period has, or the period's start if values are missing. It is zero for other states.
	Since time.Time `json:",omitzero"`
}

// Evaluate evaluates an alarm over metric data, period by period, until one full window after the last data point.
// It returns the alarm's changes of state. The alarm begins with INSUFFICIENT_DATA. If data are missing, CloudWatch
// looks back over some more periods than the window. With the treatments in use here, that does not affect whether
// an alarm fires.
func (s Set) Evaluate(a Alarm, points []retrymetrics.Point) ([]Change, error) {
	if len(points) == 0 {
		return nil, nil
	}
	from, to := points[0].Start, points[0].Start
	for _, p := range points {
		if p.Start.Before(from) {
			from = p.Start
		}
		if p.Start.After(to) {
			to = p.Start
		}
	}
	step := a.step()
	grid := metricmath.GridOver(from, to.Add(time.Duration(a.Periods)*a.Period), step)
	values, err := s.values(a, points, grid)
	if err != nil {
		return nil, err
	}
	var changes []Change
	state := InsufficientData
	for i := range values {
		next := a.judge(values[max(0, i+1-a.Periods):i+1], state)
		if next != state {
			state = next
			change := Change{At: grid.At(i + 1), State: state}
			if state == Alarming {
				first := max(0, i+1-a.Periods)
				for !a.breaching(values[first]) && first < i {
					first++
				}
				change.Since = s.firstValue(a, points, grid.At(first), grid.At(first+1))
			}
			changes = append(changes, change)
		}
	}
	return changes, nil
}

// step returns the interval at which the alarm is evaluated: its period, or five minutes if the period is longer,
// because CloudWatch evaluates the period that ends now every minute. Only alarms on rates of sums with one period have
// a longer one here.
func (a Alarm) step() time.Duration {
	if a.Rate != nil && a.Periods == 1 && a.Period > slide && a.Period%slide == 0 {
		return slide
	}
	return a.Period
}

const slide = 5 * time.Minute

// moving returns the sums over the last n values, those that are missing left out.
func moving(values metricmath.Series, n int) metricmath.Series {
	out := make(metricmath.Series, len(values))
	for i := range values {
		out[i] = math.NaN()
		for _, v := range values[max(0, i+1-n) : i+1] {
			switch {
			case math.IsNaN(v):
			case math.IsNaN(out[i]):
				out[i] = v
			default:
				out[i] += v
			}
		}
	}
	return out
}

// breaching reports whether a period's value, which may be missing, counts as breaching.
func (a Alarm) breaching(v float64) bool {
	if math.IsNaN(v) {
		return false
	}
	return a.Comparison.breaches(v, a.Threshold)
}

// firstValue returns the time of the first value, other than zero, of what an alarm watches between two times; from if
// there is none.
func (s Set) firstValue(a Alarm, points []retrymetrics.Point, from, to time.Time) time.Time {
	first := to
	for _, series := range a.watched(s.StateMachine) {
		for i := range points {
			p := &points[i]
			if p.Start.Before(from) || !p.Start.Before(first) || !series.Matches(p) {
				continue
			}
			if slices.ContainsFunc(p.Values, func(v float64) bool { return v != 0 }) {
				first = p.Start
			}
		}
	}
	if first.Equal(to) {
		return from
	}
	return first
}

// values returns the watched quantity by period.
func (s Set) values(a Alarm, points []retrymetrics.Point, grid metricmath.Grid) (metricmath.Series, error) {
	if a.Series != nil {
		data, err := retrymetrics.Statistic(points, *a.Series, a.Stat, a.Period)
		return grid.Series(data), err
	}
	terms := map[string]metricmath.Series{}
	for i, series := range a.watched(s.StateMachine) {
		data, err := retrymetrics.Statistic(points, series, a.Rate.Terms[i].Stat, grid.Period)
		if err != nil {
			return nil, err
		}
		terms[a.Rate.Terms[i].ID] = moving(grid.Series(data), int(a.Period/grid.Period))
	}
	return metricmath.One(a.Rate.Expression, grid, terms)
}

// judge applies the M out of N rule to the periods of one window.
func (a Alarm) judge(window metricmath.Series, before State) State {
	breaching, present := 0, 0
	for _, v := range window {
		if math.IsNaN(v) {
			continue
		}
		present++
		if a.Comparison.breaches(v, a.Threshold) {
			breaching++
		}
	}
	switch {
	case breaching >= a.Breaching:
		return Alarming
	case present == 0 && a.Missing == Ignore:
		return before
	case present == 0 && a.Missing == NoData:
		return InsufficientData
	default:
		return OK
	}
}

// Tripped returns the sorted names of the alarms that enter ALARM at any time over the metric data, and whether a
// composite pages. An alarm on silence counts if data stopped.
func (s Set) Tripped(points []retrymetrics.Point) (names []string, pages bool, err error) {
	all := map[string][]Change{}
	for _, a := range s.Alarms {
		changes, err := s.Evaluate(a, points)
		if err != nil {
			return nil, false, err
		}
		all[a.Name] = changes
		if slices.ContainsFunc(changes, func(c Change) bool {
			return c.State == Alarming || a.Silence && c.State == InsufficientData
		}) {
			names = append(names, a.Name)
			pages = pages || a.Page != ""
		}
	}
	for _, b := range Burns() {
		pages = pages || b.Page && together(all[b.LongName()], all[b.ShortName()])
	}
	slices.Sort(names)
	return names, pages, nil
}

// together reports whether two alarms are in ALARM at the same time.
func together(a, b []Change) bool {
	for _, c := range a {
		if c.State == Alarming && in(b, c.At) {
			return true
		}
	}
	for _, c := range b {
		if c.State == Alarming && in(a, c.At) {
			return true
		}
	}
	return false
}

// in reports whether an alarm is in ALARM at a time.
func in(changes []Change, at time.Time) bool {
	state := InsufficientData
	for _, c := range changes {
		if c.At.After(at) {
			break
		}
		state = c.State
	}
	return state == Alarming
}
