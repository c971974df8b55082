package shared

import (
	"time"

	"stepback/adaptive/breaker"
	"stepback/adaptive/limiter"
	"stepback/adaptive/poison"
)

// Policies are the policies of one callee, the same in all processes.
type Policies struct {
	Breaker breaker.Policy
	Limiter limiter.Policy
}

// Callee returns the policies for a callee that many workers share, which are those of the laboratory's policy
// adaptive.
func Callee() Policies { return Policies{Breaker: breaker.Callee(), Limiter: limiter.Standard()} }

// Record is the shared state of a callee. The zero Record is that of a callee that was never called. It is a plain
// value, stored as JSON.
type Record struct {
	// Version counts the changes; a change is written only if the stored version is the one it was derived from.
	Version int64 `json:"version"`
	// At is when the counters were last turned into the state.
	At time.Time `json:"at"`
	// Breaker and Limiter hold the state of the shared breaker and limiter.
	Breaker breaker.State `json:"breaker"`
	Limiter limiter.State `json:"limiter"`
	// Poison tells records that always fail from a callee that is ill.
	Poison poison.State `json:"poison"`
	// Last holds the counts of the Span before At.
	Last limiter.Tally `json:"last"`
	Span time.Duration `json:"span"`
	// Succeeded is when a call last succeeded; zero if none has.
	Succeeded time.Time `json:"succeeded,omitzero"`
}

// Advance turns the counts since r.At into the next record. If now is not after r.At, a second is assumed to have
// passed.
func (r Record) Advance(p *Policies, t limiter.Tally, now time.Time) Record {
	span := now.Sub(r.At)
	if r.At.IsZero() || span <= 0 {
		span = time.Second
	}
	next := r
	next.Version++
	next.At, next.Last, next.Span = now, t, span
	next.Limiter.Advance(&p.Limiter, t, span, now)
	next.Poison.Advance(t.Attempts, now)
	next.Breaker.Tally(&p.Breaker, t.Successes, t.Failures, now)
	if t.Successes > 0 {
		next.Succeeded = now
	}
	return next
}

// Share returns the share of the calls that a closed circuit admits, 0 to 1.
func (r *Record) Share(p *Policies) float64 {
	return min(limiter.Share(r.Limiter.Limit(&p.Limiter), r.Last, r.Span), r.Limiter.Headroom(r.Last, r.Span, r.At))
}
