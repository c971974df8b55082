package shared

import (
	"time"

	"stepback/adaptive/breaker"
	"stepback/adaptive/limiter"
)

// Policies are those of one callee, the same in all processes.
type Policies struct {
	Breaker breaker.Policy
	Limiter limiter.Policy
}

// Callee are the policies for a callee that many workers share. Ten failures in a row open the circuit, as in the
// laboratory's policy adaptive: behind the limiter an outage's failures are few, and it would take the rate over a
// minute most of that minute to tell them from the successes before.
func Callee() Policies {
	b := breaker.Callee()
	b.ConsecutiveFailures = 10
	return Policies{Breaker: b, Limiter: limiter.Standard()}
}

// Record is what all processes know of a callee. The zero Record is that of a callee nobody has called. It is a plain
// value, stored as JSON.
type Record struct {
	// Version counts the changes; a change is written only on top of the version it was made of.
	Version int64 `json:"version"`
	// At is when the counters were last turned into the state.
	At time.Time `json:"at"`
	// Breaker and Limiter are the state.
	Breaker breaker.State `json:"breaker"`
	Limiter limiter.State `json:"limiter"`
	// Last is what was counted in the Span before At.
	Last limiter.Tally `json:"last"`
	Span time.Duration `json:"span"`
}

// Advance turns what was counted since r.At into the next record. A time that is not after r.At counts as a moment
// after it.
func (r Record) Advance(p *Policies, t limiter.Tally, now time.Time) Record {
	span := now.Sub(r.At)
	if r.At.IsZero() || span <= 0 {
		span = time.Second
	}
	next := r
	next.Version++
	next.At, next.Last, next.Span = now, t, span
	next.Limiter.Advance(&p.Limiter, t, span, now)
	next.Breaker.Tally(&p.Breaker, t.Successes, t.Failures, now)
	return next
}

// Share is the part of the calls that a closed circuit admits, 0 to 1.
func (r *Record) Share(p *Policies) float64 {
	return min(limiter.Share(r.Limiter.Limit(&p.Limiter), r.Last, r.Span), r.Limiter.Headroom(r.Last, r.Span, r.At))
}
