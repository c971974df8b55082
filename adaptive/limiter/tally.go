package limiter

import (
	"time"
)

// Tally is what several processes saw of a callee during a span of time, added up.
type Tally struct {
	// Asked are the calls that were wanted; Admitted of them were made.
	Asked, Admitted int64
	// Successes and Failures are calls that ended so; a failure is the callee's.
	Successes, Failures int64
	// Busy is the time that the ended calls took, added up.
	Busy time.Duration
}

// Plus adds two tallies.
func (t Tally) Plus(o Tally) Tally {
	return Tally{
		t.Asked + o.Asked, t.Admitted + o.Admitted, t.Successes + o.Successes, t.Failures + o.Failures, t.Busy + o.Busy,
	}
}

// Advance moves the limit by what a tally says: every failure once and not more than once per DecreaseEvery of the
// span, and successes as [State.Record] counts them, if the calls used at least half of the limit. The span is the time
// during which the tally was taken; it ends now. Of a tally with failures and successes, the successes count first.
func (s *State) Advance(p *Policy, t Tally, span time.Duration, now time.Time) {
	at := now.UnixNano()
	if t.Successes > 0 && 2*t.concurrency(span) >= s.Limit(p) {
		// As many rounds as there were: n successes at a limit L make L² grow by 2n.
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
	steps := int64(1)
	if p.DecreaseEvery > 0 {
		steps = min(t.Failures, max(int64(span/p.DecreaseEvery), 1))
	}
	for i := range min(steps, 64) {
		s.lower(p, at-int64(p.DecreaseEvery)*(min(steps, 64)-1-i))
	}
}

// concurrency is the mean number of calls under way during the span, by Little's law.
func (t Tally) concurrency(span time.Duration) float64 {
	if span <= 0 {
		return float64(t.Admitted)
	}
	return float64(t.Busy) / float64(span)
}

// The growth of what callers with old news may admit after failures; see [State.Headroom].
const (
	headroom    = 1.25
	trial       = 1 // call a second, to find out
	convalesces = 10 * time.Minute
)

// Headroom is the part of the calls wanted that may be made, 0 to 1, while the callee convalesces: for ten minutes
// after the limit was last lowered, at most a quarter more calls are made than succeeded in the span before, and one a
// second besides. A limit on calls under way does not bound what callers admit that learn of it late: as long as the
// calls that ended were quick, [Share] admits limit ÷ mean a second, which may be several times what the callee can do,
// and those who wait come back together. It is 1 when nothing failed lately.
func (s *State) Headroom(t Tally, span time.Duration, now time.Time) float64 {
	if s.decreased == 0 || now.UnixNano()-s.decreased > int64(convalesces) || t.Asked == 0 || span <= 0 {
		return 1
	}
	return min((headroom*float64(t.Successes)+trial*span.Seconds())/float64(t.Asked), 1)
}

// Share is the part of the calls wanted that may be made, 0 to 1, so that about limit calls are under way: the calls
// wanted during the span took, or would have taken, mean each. It is 1 when nothing is known.
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

// Negative is what takes a tally off when it is added.
func (t Tally) Negative() Tally {
	return Tally{-t.Asked, -t.Admitted, -t.Successes, -t.Failures, -t.Busy}
}
