package limiter

import (
	"math"
	"time"
)

// Pacer gives deferred calls the times at which to come back, evenly spaced, so that they never come back together. The
// zero Pacer has nobody waiting. It is a plain value and not safe for concurrent use.
type Pacer struct {
	next int64 // the first free time; Unix nanoseconds
}

// Reserve takes the first free time, now or later, and the next one is free 1 ÷ rate seconds after it. A rate that is
// not above 0 keeps what is reserved a day apart.
func (pc *Pacer) Reserve(rate float64, now time.Time) time.Time {
	at := max(now.UnixNano(), pc.next)
	gap := float64(24 * time.Hour)
	if rate > 0 {
		gap = min(float64(time.Second)/rate, gap)
	}
	pc.next = at + int64(gap)
	if pc.next < at {
		pc.next = math.MaxInt64
	}
	return time.Unix(0, at).UTC()
}

// Waiting is how long a call that is deferred now would wait.
func (pc *Pacer) Waiting(now time.Time) time.Duration {
	return time.Duration(max(pc.next-now.UnixNano(), 0))
}

// Rate is the calls a second that a limit admits when a call takes mean: Little's law. It is limit per second when
// mean is not known.
func Rate(limit float64, mean time.Duration) float64 {
	if mean <= 0 {
		return limit
	}
	return limit / mean.Seconds()
}
