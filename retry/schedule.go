package retry

import (
	"encoding/json"
	"math"
	"sort"
	"time"
)

// listedRetries is the maximum number of retries that a [Schedule] lists individually. Totals cover all of them.
const listedRetries = 1000

// Wait is the range and the mean of a delay, or of a sum of delays.
type Wait struct {
	Min, Mean, Max time.Duration
}

// Schedule describes the waits of a [Policy] for a caller that fails every time.
type Schedule struct {
	// Retries is the number of retries, never negative.
	Retries int
	// Waits holds the wait before retry 1, 2, …; at most the first 1,000.
	Waits []Wait
	// Total is the sum over all retries, at most about 292 years.
	Total Wait
}

// Schedule computes the waits of all MaxAttempts retries. Minima and maxima are exact. Means are exact too, except
// for DECORRELATED once its cap applies: the mean of each step is then computed from the mean of the step before,
// which gives an upper bound.
func (p Policy) Schedule() Schedule {
	retries := max(p.MaxAttempts, 0)
	s := Schedule{Retries: retries, Waits: make([]Wait, 0, min(retries, listedRetries))}
	base := max(p.Interval, 0)
	wait := Wait{base, base, base}
	for retry := 1; retry <= min(retries, listedRetries); retry++ {
		wait = p.wait(retry, wait)
		s.Waits = append(s.Waits, wait)
		s.Total = s.Total.Plus(wait)
	}
	if retries > listedRetries {
		s.Total = s.Total.Plus(p.rest(listedRetries+1, retries, wait))
	}
	return s
}

// wait returns the range and mean of the wait before a retry, given those of the previous wait.
func (p Policy) wait(retry int, previous Wait) Wait {
	if p.Jitter == JitterDecorrelated {
		return p.decorrelatedWait(previous)
	}
	return p.spread(p.ceiling(retry))
}

// spread returns the range and mean of a delay, or of a sum of delays, with jitter. It works for sums because the
// bounds are proportional to the delay for all strategies but DECORRELATED.
func (p Policy) spread(d time.Duration) Wait {
	switch p.Jitter {
	case JitterFull:
		return Wait{0, d / 2, d}
	case JitterPartial:
		return Wait{d / 2, d/2 + d/4, d}
	case JitterProportional:
		extra := scale(d, p.JitterFactor)
		return Wait{d, saturatingAdd(d, extra/2), saturatingAdd(d, extra)}
	default:
		return Wait{d, d, d}
	}
}

func (p Policy) decorrelatedWait(previous Wait) Wait {
	base := max(p.Interval, 0)
	limit := maxDuration
	if p.MaxDelay > 0 {
		limit = p.MaxDelay
	}
	return Wait{
		Min:  min(base, limit),
		Mean: cappedUniformMean(base, saturatingTimes(previous.Mean, 3), limit),
		Max:  min(max(base, saturatingTimes(previous.Max, 3)), limit),
	}
}

// cappedUniformMean returns the mean of min(limit, X), for X uniform in [lo, hi].
func cappedUniformMean(lo, hi, limit time.Duration) time.Duration {
	switch {
	case lo >= limit:
		return limit
	case hi <= lo:
		return lo
	case hi <= limit:
		return lo + (hi-lo)/2
	}
	below := float64(limit-lo) / float64(hi-lo) // probability of staying below the limit
	mean := below*(float64(lo)+float64(limit))/2 + (1-below)*float64(limit)
	return min(scale(1, mean), limit)
}

// rest returns the sum of the waits of the retries from "from" to "to". It does not iterate over them, because
// there may be up to MaxInt.
func (p Policy) rest(from, to int, last Wait) Wait {
	if p.Jitter == JitterDecorrelated {
		// After 1,000 steps of growth by at least half, every bound is at its limit.
		return p.decorrelatedWait(last).Times(to - from + 1)
	}
	// Delays grow until they reach the value of the last one, and stay there.
	top := p.ceiling(to)
	growing := sort.Search(to-from, func(i int) bool { return p.ceiling(from+i) >= top })
	sum := saturatingTimes(top, to-from+1-growing)
	if growing > 0 {
		first := p.ceiling(from)
		geometric := (math.Pow(p.Rate, float64(growing)) - 1) / (p.Rate - 1)
		sum = saturatingAdd(sum, scale(first, geometric))
	}
	return p.spread(sum)
}

// Plus returns the sum of both waits, at most about 292 years.
func (w Wait) Plus(v Wait) Wait {
	return Wait{saturatingAdd(w.Min, v.Min), saturatingAdd(w.Mean, v.Mean), saturatingAdd(w.Max, v.Max)}
}

// Times returns the sum of n waits of w, at most about 292 years. n must be 0 or more.
func (w Wait) Times(n int) Wait {
	return Wait{saturatingTimes(w.Min, n), saturatingTimes(w.Mean, n), saturatingTimes(w.Max, n)}
}

// saturatingTimes multiplies two non-negative numbers; the product is at most maxDuration.
func saturatingTimes(d time.Duration, n int) time.Duration {
	if n > 0 && d > maxDuration/time.Duration(n) {
		return maxDuration
	}
	return d * time.Duration(n)
}

// MarshalJSON implements json.Marshaler. The times are in seconds, and the names are lowerCamel.
func (w Wait) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Min  float64 `json:"minSeconds"`
		Mean float64 `json:"meanSeconds"`
		Max  float64 `json:"maxSeconds"`
	}{w.Min.Seconds(), w.Mean.Seconds(), w.Max.Seconds()})
}
