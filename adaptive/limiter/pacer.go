package limiter

import (
	"math"
	"time"
)

// Pacer assigns deferred calls evenly spaced times to come back at, so that they never come back together. The zero
// Pacer has no calls waiting. It is a plain value and not safe for concurrent use.
type Pacer struct {
	next int64 // the first free time; Unix nanoseconds
	seen int64 // the time of the last reservation
}

// Reserve takes the first free time, which is now or later. The next free time follows 1 ÷ rate seconds later. If
// rate is not above 0, reservations are a day apart.
func (pc *Pacer) Reserve(rate float64, now time.Time) time.Time {
	at := max(now.UnixNano(), pc.after(now))
	pc.seen = now.UnixNano()
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

// Waiting returns how long a call that is deferred now would wait.
func (pc *Pacer) Waiting(now time.Time) time.Duration {
	return time.Duration(max(pc.after(now)-now.UnixNano(), 0))
}

// after returns the first free time. If the clock was set back since the last reservation, so is that time.
func (pc *Pacer) after(now time.Time) int64 {
	return pc.next - max(pc.seen-now.UnixNano(), 0)
}

// Rate returns the number of calls per second that a limit admits, by Little's law; mean is the duration of a call.
// If mean is unknown (0), it returns limit per second.
func Rate(limit float64, mean time.Duration) float64 {
	if mean <= 0 {
		return limit
	}
	return limit / mean.Seconds()
}
