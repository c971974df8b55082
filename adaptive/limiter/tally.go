package limiter

import (
	"math"
	"time"

	"stepback/adaptive/poison"
)

// Tally adds up the calls of several processes to one callee during a span of time.
type Tally struct {
	// Asked is the number of calls requested. Admitted is the number of them that were made.
	Asked, Admitted int64
	// Successes and Failures count the calls that ended. A failure is the callee's fault.
	Successes, Failures int64
	// Busy is the total duration of the ended calls, where a throttled one counts with that of a success. Lost is the
	// part of it that failures took, and Spared the part of Lost that was not lost to them; see [Lost].
	Busy, Lost, Spared time.Duration
	// Attempts counts the ended calls as first attempts and retries, if the callers know which they are.
	Attempts poison.Counts
}

// Plus returns the sum of two tallies.
func (t Tally) Plus(o Tally) Tally {
	return Tally{
		t.Asked + o.Asked, t.Admitted + o.Admitted, t.Successes + o.Successes, t.Failures + o.Failures, t.Busy + o.Busy,
		t.Lost + o.Lost, t.Spared + o.Spared, t.Attempts.Plus(o.Attempts),
	}
}

// Advance moves the limit according to a tally that was taken over the span ending now. Failures lower the limit once
// per DecreaseEvery of the span; see [Policy.Decrease]. Successes count as in [State.Record]. The limit was in use if
// the calls used at least half of it on average. If there are both successes and failures, the successes are applied
// first.
func (s *State) Advance(p *Policy, t Tally, span time.Duration, now time.Time) {
	s.count(float64(t.Asked), float64(max(t.Asked-t.Admitted, 0)), now.UnixNano())
	used := 2*t.concurrency(span) >= s.Limit(p)
	if t.Successes > 0 && used {
		// Apply the successes in rounds, because n successes at a limit L make L² grow by 2n.
		for n := float64(t.Successes); n > 0; {
			round := min(n, s.Limit(p))
			s.raise(p, round)
			n -= round
			if s.Limit(p) >= p.Max {
				break
			}
		}
	}
	if t.Failures == 0 {
		return
	}
	lost := 0.0
	if used && t.Busy > 0 {
		lost = float64(t.Lost-t.Spared) / float64(t.Busy)
	} else if used {
		lost = float64(t.Failures) / float64(t.Successes+t.Failures)
	}
	factor := p.factor(t.Successes+t.Failures, t.Failures, lost)
	if factor == 1 {
		return
	}
	steps := int64(1)
	if p.DecreaseEvery > 0 {
		steps = min(t.Failures, max(int64(span/p.DecreaseEvery), 1), 64)
	}
	s.lower(p, now.UnixNano(), math.Pow(factor, float64(steps)))
}

// concurrency returns the mean number of calls under way during the span, by Little's law.
func (t Tally) concurrency(span time.Duration) float64 {
	if span <= 0 {
		return float64(t.Admitted)
	}
	return float64(t.Busy) / float64(span)
}

// Limits on the calls that callers with outdated information may make after failures; see [State.Headroom].
const (
	headroom    = 1.25
	trial       = 1 // call per second, to test the callee
	convalesces = 10 * time.Minute
)

// Headroom returns the share of the requested calls, 0 to 1, that may be made while the callee convalesces. For ten
// minutes after the limit was last lowered, at most a quarter more calls are made than succeeded in the span before,
// plus one a second. A limit on concurrent calls does not bound callers that learn of it late: as long as the calls
// that ended were quick, [Share] admits limit ÷ mean a second, which may be several times the callee's capacity, and
// waiting callers come back together. It returns 1 if nothing failed lately.
func (s *State) Headroom(t Tally, span time.Duration, now time.Time) float64 {
	since := now.UnixNano() - s.decreased // below −convalesces: the clock was set back
	if s.decreased == 0 || since > int64(convalesces) || since < -int64(convalesces) || t.Asked == 0 || span <= 0 {
		return 1
	}
	return min((headroom*float64(t.Successes)+trial*span.Seconds())/float64(t.Asked), 1)
}

// Share returns the share of the requested calls, 0 to 1, that may be made so that about limit calls are under way.
// It assumes that each requested call takes the mean duration of the calls that ended in the span. It returns 1 if
// nothing is known.
func Share(limit float64, t Tally, span time.Duration) float64 {
	ended := t.Successes + t.Failures
	if t.Asked == 0 || ended == 0 || span <= 0 || t.Busy <= 0 {
		return 1
	}
	mean := float64(t.Busy) / float64(ended)
	wanted := float64(t.Asked) * mean / float64(span)
	if wanted <= limit {
		return 1
	}
	return limit / wanted
}

// Negative returns −t. Adding it to a tally subtracts t.
func (t Tally) Negative() Tally {
	return Tally{-t.Asked, -t.Admitted, -t.Successes, -t.Failures, -t.Busy, -t.Lost, -t.Spared, t.Attempts.Negative()}
}
