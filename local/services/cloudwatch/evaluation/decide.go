package evaluation

import "math"

// The states of an alarm.
const (
	OK           = "OK"
	Alarm        = "ALARM"
	Insufficient = "INSUFFICIENT_DATA"
)

// The treatments of missing data.
const (
	Missing      = "missing"
	Ignore       = "ignore"
	Breaching    = "breaching"
	NotBreaching = "notBreaching"
)

// Comparisons are the operators that compare a datapoint with a threshold.
var Comparisons = map[string]func(value, threshold float64) bool{
	"GreaterThanOrEqualToThreshold": func(v, t float64) bool { return v >= t },
	"GreaterThanThreshold":          func(v, t float64) bool { return v > t },
	"LessThanThreshold":             func(v, t float64) bool { return v < t },
	"LessThanOrEqualToThreshold":    func(v, t float64) bool { return v <= t },
}

// Margin is the number of datapoints beyond N that CloudWatch retrieves, to have N despite missing ones.
const Margin = 2

// Rule determines when an alarm fires.
type Rule struct {
	// M of the last N datapoints must breach.
	M, N int
	// Treatment is the treatment of missing data; empty means Missing.
	Treatment  string
	Comparison string
	Threshold  float64
}

// Decide returns the new state of an alarm whose previous state is before. values are the last N + Margin datapoints,
// the newest last; NaN is a missing one. used are the indices of the datapoints that were considered.
//
// It follows "Configuring how CloudWatch alarms treat missing data" in the CloudWatch user guide.
func (r Rule) Decide(before string, values []float64) (state string, used []int) {
	breaches, breaching, good, oldest := Comparisons[r.Comparison], 0, 0, 0
	for i := len(values) - 1; i >= 0 && len(used) < r.N; i-- {
		if math.IsNaN(values[i]) {
			continue
		}
		used = append(used, i)
		if breaches(values[i], r.Threshold) {
			breaching++
			oldest = len(values) - i
		} else {
			good++
		}
	}
	for i, j := 0, len(used)-1; i < j; i, j = i+1, j-1 {
		used[i], used[j] = used[j], used[i]
	}
	there := breaching + good
	if r.Treatment == Breaching {
		breaching += r.N - there
	}
	switch {
	case breaching >= r.M:
		return Alarm, used
	case there == r.N || good > 0 || r.Treatment == NotBreaching || r.Treatment == Breaching:
		return OK, used
	case r.Treatment == Ignore:
		return before, used
	case there == 0:
		return Insufficient, used
	case oldest >= r.M: // all existing datapoints breach, and the oldest is old enough
		return Alarm, used
	}
	return before, used
}
