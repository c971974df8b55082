package review

import (
	"math"
	"time"

	"stepback/asl"
	"stepback/jsonvalue"
	"stepback/retry"
)

// schedule returns the waits of a retrier if its error never goes away.
func schedule(r *asl.Retrier) retry.Schedule {
	p := retry.Policy{
		Interval: time.Duration(r.IntervalSeconds) * time.Second, Rate: r.BackoffRate,
		MaxDelay: time.Duration(r.MaxDelaySeconds) * time.Second, MaxAttempts: int(r.MaxAttempts),
		Jitter: retry.JitterNone,
	}
	if r.FullJitter {
		p.Jitter = retry.JitterFull
	}
	return p.Schedule()
}

// summary computes the totals over the retriers of the state that an error can reach.
func (s *subject) summary(attempts int64) State {
	x := State{Location: s.at.String(), Retries: s.all(), Attempts: attempts, Attempt: timeout(s.State)}
	s.active(func(_ int, r *asl.Retrier) {
		total := schedule(r).Total
		x.Wait.Min = sum(x.Wait.Min, total.Min)
		x.Wait.Mean = sum(x.Wait.Mean, total.Mean)
		x.Wait.Max = sum(x.Wait.Max, total.Max)
	})
	if x.Attempt > 0 {
		x.Longest = sum(x.Wait.Max, time.Duration(times(int64(x.Attempt), 1+x.Retries)))
	}
	return x
}

// timeout returns the literal TimeoutSeconds of a state, or 0 if there is none.
func timeout(s *asl.State) time.Duration {
	v := s.TimeoutSeconds.Literal
	if v == nil || v.Kind() != jsonvalue.Number {
		return 0
	}
	n, _ := v.Int()
	return time.Duration(times(n, int64(time.Second)))
}

// times multiplies two non-negative numbers; the product saturates at math.MaxInt64.
func times(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}

// sum adds two non-negative durations; the sum saturates at math.MaxInt64.
func sum(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// plain formats a duration without unneeded zeros: 5m0s is 5m.
func plain(d time.Duration) string {
	const century = 100 * 365 * 24 * time.Hour
	if d > century {
		return "more than a century"
	}
	text := d.Round(time.Second).String()
	for _, zeros := range []string{"m0s", "h0m"} {
		if n := len(text) - len(zeros) + 1; n > 0 && text[n-1:] == zeros {
			text = text[:n]
		}
	}
	return text
}
