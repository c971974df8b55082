package analysis

import "math"

// CurvePoint is the share of tasks that had recovered within a time after their first failure.
type CurvePoint struct {
	Seconds float64 `json:"seconds"`
	Share   float64 `json:"share"`
}

// edges are the ends of the time curve's steps, in seconds.
var edges = []float64{
	0.5, 1, 2, 3, 5, 8, 12, 20, 30, 45, 60, 90, 120, 180, 300, 600, 900, 1200, 1800, 3600, 7200, 14400, 43200, 86400,
}

// censored is an interval, in seconds since the first failure, in which a recovery happened. high is infinite for a
// task that did not recover while it was observed.
type censored struct{ low, high float64 }

// timeCurve is Turnbull's estimate of the distribution of recovery times. A recovery is known only to lie between the
// start of the last failed attempt and that of the first successful one. The curve ends where the record has no more
// information.
func timeCurve(all []censored) []CurvePoint {
	if len(all) == 0 {
		return nil
	}
	type reach struct{ from, to int }
	counts := map[reach]float64{}
	last := 0.0
	for _, c := range all {
		counts[reach{stepAt(c.low), stepAt(c.high)}]++
		if !math.IsInf(c.high, 0) {
			last = max(last, c.high)
		}
	}
	n := len(edges) + 1 // the last step is beyond the edges
	mass := make([]float64, n)
	for i := range mass {
		mass[i] = 1 / float64(n)
	}
	const rounds = 300
	for range rounds {
		next := make([]float64, n)
		for r, count := range counts {
			sum := 0.0
			for i := r.from; i <= r.to; i++ {
				sum += mass[i]
			}
			if sum == 0 {
				continue
			}
			for i := r.from; i <= r.to; i++ {
				next[i] += count * mass[i] / sum / float64(len(all))
			}
		}
		mass = next
	}
	var out []CurvePoint
	share := 0.0
	for i, edge := range edges {
		share += mass[i]
		out = append(out, CurvePoint{edge, math.Round(share*1e6) / 1e6})
		if edge >= last {
			break
		}
	}
	return out
}

// stepAt returns the step that contains a time.
func stepAt(seconds float64) int {
	for i, edge := range edges {
		if seconds <= edge {
			return i
		}
	}
	return len(edges)
}

// timeOfShare returns the time in seconds by which the given share of those that recover at all has recovered; 0 if
// none recovers.
func timeOfShare(curve []CurvePoint, share float64) float64 {
	if len(curve) == 0 {
		return 0
	}
	total := curve[len(curve)-1].Share
	for _, p := range curve {
		if total > 0 && p.Share >= share*total {
			return p.Seconds
		}
	}
	return 0
}
