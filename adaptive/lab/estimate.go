package lab

import (
	"math"
	"slices"

	"stepback/adaptive/lab/scenario"
	"stepback/adaptive/lab/simulation"
	"stepback/adaptive/lab/statistics"
)

// byMedian lists the metrics whose values are skewed or may be censored. They are estimated by a median and a
// bootstrap.
var byMedian = []string{"p99", "timeToRecover", "timeToDrain"}

// bounds holds the smallest and the largest possible value of a metric; infinite if there is none.
type bounds struct{ low, high float64 }

var unbounded = bounds{math.Inf(-1), math.Inf(1)}

// boundsOf returns the bounds of the metrics that have bounds on both sides, for runs of one scenario. With them, an
// interval can allow for seeds of a kind that no run shows. The other metrics could have any value in such seeds.
func boundsOf(runs []*simulation.Result) map[string]bounds {
	offered, rate := 0.0, 0.0
	for _, r := range runs {
		records, seconds := 0.0, 0.0
		for _, p := range r.Phases {
			records += p.Offered
			if p.Offered > 0 {
				seconds += p.Seconds
			}
		}
		offered = max(offered, records)
		if seconds > 0 {
			rate = max(rate, records/seconds)
		}
	}
	all := map[string]bounds{"success": {0, 1}, "wastedWork": {0, 1}, "deadLettered": {0, offered}}
	goodput := column(runs, slices.Index(scenario.Metrics, "goodput"))
	if !slices.ContainsFunc(goodput, func(g float64) bool { return g > rate }) {
		all["goodput"] = bounds{0, rate} // not for a Map, whose records do not arrive by themselves
	}
	return all
}

// estimate estimates a metric of one policy from its values by seed.
func estimate(metric string, values []float64, limits map[string]bounds) Estimate {
	if slices.Contains(byMedian, metric) {
		return Estimate{statistics.Median(values), "median"}
	}
	b, ok := limits[metric]
	if !ok {
		b = unbounded
	}
	return Estimate{statistics.MeanWithin(values, b.low, b.high), "mean"}
}

// differences returns the bounds of the difference of two values of each metric.
func differences(limits map[string]bounds) map[string]bounds {
	out := map[string]bounds{}
	for name, b := range limits {
		out[name] = bounds{b.low - b.high, b.high - b.low}
	}
	return out
}

// precise reports whether the success of every scenario and policy is known with sufficient precision.
func precise(results [][][]*simulation.Result) bool {
	for _, policies := range results {
		for _, runs := range policies {
			e := statistics.MeanWithin(column(runs, slices.Index(scenario.Metrics, "success")), 0, 1)
			if !((e.High-e.Low)/2 <= Precision) {
				return false
			}
		}
	}
	return true
}
