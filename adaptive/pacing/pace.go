package pacing

import (
	"time"

	"stepback/adaptive/breaker"
	"stepback/adaptive/limiter"
)

// Pace decides when pieces of work may begin: no more at a time than a limiter admits, and spread over the time that a
// successful piece takes. Pieces that fail at once therefore do not speed it up. Pace makes no calls and reads no
// clock, so a simulation can use it as well as Run. Create it with NewPace. It is not safe for concurrent use.
type Pace struct {
	policy limiter.Policy
	state  limiter.State
	pacer  limiter.Pacer
	next   time.Time
	mean   time.Duration
	failed bool
}

// firstGrowth is the share by which the limit grows in the time of one piece until the first failure. The first
// overshoot is thus at most this share. After that, the limit grows by Policy.Increase in the time of one piece, but by
// no more than the share laterGrowth a second: pieces that take a tenth of a second would else push it over the
// capacity ten times between two decreases.
const (
	firstGrowth = 0.25
	laterGrowth = 0.02
)

// NewPace returns a pace at which nothing has begun. The zero Policy means Careful. The error is that of
// [limiter.Policy.Validate].
func NewPace(p limiter.Policy) (*Pace, error) {
	if p == (limiter.Policy{}) {
		p = Careful()
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return &Pace{policy: p}, nil
}

// Begin admits a piece that begins now; it returns false if the limit is reached or Next has not come.
func (p *Pace) Begin(now time.Time) (limiter.Permit, bool) {
	if now.Before(p.next) {
		return limiter.Permit{}, false
	}
	permit, ok := p.state.Allow(&p.policy, now)
	if ok {
		p.pacer.Reserve(limiter.Rate(p.state.Limit(&p.policy), p.mean), now)
		p.next = now.Add(p.pacer.Waiting(now))
	}
	return permit, ok
}

// Next returns the time before which no piece begins; the zero time if there is none.
func (p *Pace) Next() time.Time { return p.next }

// Ended records that a piece has ended, took after it began.
func (p *Pace) Ended(now time.Time, permit limiter.Permit, took time.Duration, succeeded bool) {
	policy := p.policy
	if !succeeded {
		p.failed = true
		// A piece is begun again because the callee failed it before. That it fails again is taken for overload, so all
		// of its time counts, like that of a timeout.
		p.state.Record(&policy, permit, now, breaker.TimedOut)
		return
	}
	const weight = 20 // of the mean so far against one piece
	if p.mean == 0 {
		p.mean = max(took, 1)
	} else {
		p.mean += (took - p.mean) / weight
	}
	limit := p.state.Limit(&policy)
	if !p.failed { // the limit is not known to be too high yet
		policy.Increase = max(policy.Increase, limit*firstGrowth)
	} else {
		policy.Increase = min(policy.Increase, limit*laterGrowth*p.mean.Seconds())
	}
	p.state.Record(&policy, permit, now, breaker.Success)
}

// Refused records that a piece was admitted but could not begin.
func (p *Pace) Refused(now time.Time, permit limiter.Permit) {
	p.state.Record(&p.policy, permit, now, breaker.Ignored)
}

// Limit returns the learned number of pieces at a time.
func (p *Pace) Limit() float64 { return p.state.Limit(&p.policy) }

// Mean returns how long a piece takes that succeeds; 0 while unknown.
func (p *Pace) Mean() time.Duration { return p.mean }
