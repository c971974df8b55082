package budget

import (
	"time"

	"stepback/adaptive/internal/sliding"
	"stepback/retry"
)

// rounding is the tolerance, in tokens, for rounding errors in sums of fractions.
const rounding = 1e-6

// State is a budget as a value. The zero State is a full bucket, or an empty window. It holds no pointer and its
// methods allocate nothing; copying it takes a snapshot. It is not safe for concurrent use; [Budget] is.
type State struct {
	begun  bool
	tokens float64 // of a bucket
	filled int64   // when PerSecond was last added to the bucket; Unix nanoseconds
	window sliding.Sum
}

// Tokens returns the tokens available now.
func (s *State) Tokens(p *Policy, now time.Time) float64 {
	at := now.UnixNano()
	if p.Window > 0 {
		return p.PerSecond*p.Window.Seconds() + s.window.Total(int64(p.Window), at)
	}
	if !s.begun {
		s.begun, s.tokens, s.filled = true, p.Capacity, at
	}
	if p.PerSecond > 0 && float64(s.filled-at) > p.Capacity/p.PerSecond*float64(time.Second) {
		s.filled = at // the clock was set back by more than the bucket takes to fill
	}
	if at > s.filled {
		s.tokens = min(s.tokens+p.PerSecond*time.Duration(at-s.filled).Seconds(), p.Capacity)
		s.filled = at
	}
	return s.tokens
}

// Request counts a first attempt. It is never refused.
func (s *State) Request(p *Policy, now time.Time) { s.earn(p, now, p.PerRequest) }

// Retry requests a retry and takes its cost. after is the cause of the failure that it follows. If the budget does not
// cover it, Retry returns false and takes nothing.
func (s *State) Retry(p *Policy, now time.Time, after retry.Cause) bool {
	tokens, cost := s.Tokens(p, now), p.cost(after)
	if tokens < cost-rounding || p.Threshold > 0 && tokens <= p.Threshold {
		return false
	}
	s.earn(p, now, -cost)
	return true
}

// Success counts a call that succeeded. For a retry, after is the value that was passed to [State.Retry].
func (s *State) Success(p *Policy, now time.Time, retried bool, after retry.Cause) {
	if retried && p.Refund {
		s.earn(p, now, p.cost(after)+p.PerRefund)
		return
	}
	s.earn(p, now, p.PerSuccess)
}

// Failure counts a call that failed.
func (s *State) Failure(p *Policy, now time.Time) {
	if p.FailureCost > 0 {
		s.earn(p, now, -min(p.FailureCost, max(s.Tokens(p, now), 0)))
	}
}

// earn adds n tokens, or takes them if n is negative.
func (s *State) earn(p *Policy, now time.Time, n float64) {
	if n == 0 {
		return
	}
	if p.Window > 0 {
		s.window.Add(int64(p.Window), now.UnixNano(), n)
		return
	}
	s.tokens = min(s.Tokens(p, now)+n, p.Capacity)
}
