package retry

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"time"
)

// maxDuration is the value at which delays saturate: about 292 years.
const maxDuration = time.Duration(math.MaxInt64)

// Rand provides the random numbers for jitter: uniformly distributed 64-bit values. *rand.Rand, *rand.PCG and
// *rand.ChaCha8 of math/rand/v2 are Rands.
type Rand interface {
	Uint64() uint64
}

// Policy is a backoff rule. Its methods accept any values and never panic or overflow: a negative interval counts as
// 0, a rate below 1 (or NaN) as 1, a MaxDelay of 0 or less as no cap, an unknown jitter as none, and a delay too long
// for time.Duration as the longest one. [Policy.Validate] rejects such values.
type Policy struct {
	// Interval is the delay before the first retry; it is the base of DECORRELATED.
	Interval time.Duration
	// Rate is the factor by which the delay grows from one retry to the next; 1 or more.
	Rate float64
	// MaxDelay caps the delay before jitter; 0 means no cap.
	MaxDelay time.Duration
	// MaxAttempts is the number of retries, as in ASL. The first attempt does not count, and 0 means that nothing
	// is retried.
	MaxAttempts int
	// Jitter randomises the delay.
	Jitter Jitter
	// JitterFactor is the maximum fraction of the delay that PROPORTIONAL adds; 0 to 1. Other strategies ignore it.
	JitterFactor float64
}

// Delay returns the wait before a retry, counted from 1. It follows Step Functions' rule d = Interval ×
// Rate^(retry−1), capped by MaxDelay, and then applies jitter. It returns 0 for a retry number below 1, and ignores
// MaxAttempts. Both ends of a jitter range can occur. With a nil Rand, Delay returns the longest wait. It allocates
// nothing.
//
// For DECORRELATED, Delay assumes that the previous delay was the interval. Use [Policy.DelayAfter] if the real one
// is known.
func (p Policy) Delay(retry int, rnd Rand) time.Duration {
	return p.DelayAfter(retry, 0, rnd)
}

// DelayAfter is like Delay, but takes the previous wait, which only DECORRELATED uses. 0 or less means that there
// was none.
func (p Policy) DelayAfter(retry int, previous time.Duration, rnd Rand) time.Duration {
	d := p.ceiling(retry)
	switch p.Jitter {
	case JitterFull:
		return uniform(rnd, 0, d)
	case JitterPartial:
		return uniform(rnd, d/2, d)
	case JitterProportional:
		return uniform(rnd, d, saturatingAdd(d, scale(d, p.JitterFactor)))
	case JitterDecorrelated:
		if retry < 1 {
			return 0
		}
		base := max(p.Interval, 0)
		if previous <= 0 {
			previous = base
		}
		return p.capped(uniform(rnd, base, saturatingTimes(previous, 3)))
	default:
		return d
	}
}

// ceiling returns the delay before jitter.
func (p Policy) ceiling(retry int) time.Duration {
	if retry < 1 || p.Interval <= 0 {
		return 0
	}
	d := p.Interval
	if retry > 1 && p.Rate > 1 { // false for NaN
		d = scale(d, math.Pow(p.Rate, float64(retry-1)))
	}
	return p.capped(d)
}

func (p Policy) capped(d time.Duration) time.Duration {
	if p.MaxDelay > 0 {
		return min(d, p.MaxDelay)
	}
	return d
}

// uniform returns a random value from [lo, hi], both ends included. It multiplies integers instead of a float, so
// that every nanosecond stays in range.
func uniform(rnd Rand, lo, hi time.Duration) time.Duration {
	if hi <= lo {
		return lo
	}
	if rnd == nil {
		return hi
	}
	offset, _ := bits.Mul64(rnd.Uint64(), uint64(hi-lo)+1)
	return lo + time.Duration(offset)
}

// scale multiplies d by factor, rounds to the nanosecond, and clamps the result to [0, maxDuration]. If the factor
// is negative or NaN, the result is 0.
func scale(d time.Duration, factor float64) time.Duration {
	product := math.Round(float64(d) * factor)
	switch {
	case product >= math.MaxInt64:
		return maxDuration
	case product > 0:
		return time.Duration(product)
	default:
		return 0
	}
}

// saturatingAdd adds two non-negative durations; the sum is at most maxDuration.
func saturatingAdd(a, b time.Duration) time.Duration {
	if a > maxDuration-b {
		return maxDuration
	}
	return a + b
}

// String returns text such as "5 retries, 1s ×2 up to 1m0s, jitter FULL".
func (p Policy) String() string {
	if p.MaxAttempts == 0 {
		return "no retry"
	}
	limit := "without a cap"
	if p.MaxDelay > 0 {
		limit = "up to " + p.MaxDelay.String()
	}
	jitter := cmp.Or(string(p.Jitter), string(JitterNone))
	if p.Jitter == JitterProportional {
		jitter += " " + formatFloat(p.JitterFactor)
	}
	noun := "retries"
	if p.MaxAttempts == 1 {
		noun = "retry"
	}
	return fmt.Sprintf("%d %s, %s ×%s %s, jitter %s", p.MaxAttempts, noun, p.Interval,
		formatFloat(p.Rate), limit, jitter)
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// Seconds returns a policy from numbers as they appear in the retry design's tables, in the same units and order. A
// maxDelay of 0 means no cap.
func Seconds(interval int, rate float64, maxDelay, maxAttempts int, jitter Jitter) Policy {
	return Policy{
		Interval:    time.Duration(interval) * time.Second,
		Rate:        rate,
		MaxDelay:    time.Duration(maxDelay) * time.Second,
		MaxAttempts: maxAttempts,
		Jitter:      jitter,
	}
}
