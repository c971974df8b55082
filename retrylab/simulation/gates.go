package simulation

import (
	"time"

	"stepback/adaptive/breaker"
	"stepback/adaptive/budget"
	"stepback/adaptive/limiter"
	"stepback/retrylab/draw"
	"stepback/retrylab/policy"
)

// gates are what a policy puts in front of one service: the mechanisms of package adaptive, shared by all callers.
type gates struct {
	policy   *policy.Policy
	budget   budget.State
	throttle budget.Throttle
	breaker  breaker.State
	limiter  limiter.State
	shared   shared
}

// permits are what a record holds while its call is in flight.
type permits struct {
	breaker breaker.Permit
	limiter limiter.Permit
	// retried and afterTimeout are what the budget was told of the retry that is in flight.
	retried, afterTimeout bool
}

// refusal says which gate refuses a call.
type refusal uint8

const (
	admitted refusal = iota
	throttled
	circuitOpen
	limited
)

// epoch is the wall time at which runs begin, for mechanisms that want one.
const epoch = 1_767_225_600_000_000_000 // 2026-01-01T00:00:00Z

func (r *run) time() time.Time { return time.Unix(0, epoch+r.now) }

// admit asks every gate for one call.
func (g *gates) admit(r *run, x *record) refusal {
	p := g.policy
	if p.Budget != nil && x.calls == 0 && x.asked == 1 {
		g.budget.Request(p.Budget, r.time())
	}
	item := uint64(x.workload)<<32 | uint64(x.index)
	if p.Throttle != nil && !g.throttle.Allow(p.Throttle, r.time(), draw.Float(r.Seed, forThrottle, item, uint64(x.asked))) {
		return throttled
	}
	if p.Breaker != nil {
		permit, ok := g.breaker.Allow(p.Breaker, r.time())
		if !ok {
			return circuitOpen
		}
		x.permit.breaker = permit
	}
	if p.Limiter != nil && !g.underLimit(r, x, item) {
		if p.Breaker != nil {
			g.breaker.Record(p.Breaker, x.permit.breaker, r.time(), breaker.Ignored)
		}
		return limited
	}
	return admitted
}

func (g *gates) underLimit(r *run, x *record, item uint64) bool {
	if g.policy.Staleness > 0 {
		return g.shared.admit(draw.Float(r.Seed, forThrottle, item, uint64(x.asked)))
	}
	permit, ok := g.limiter.Allow(g.policy.Limiter, r.time())
	x.permit.limiter = permit
	return ok
}

// pay asks the budget for a retry.
func (g *gates) pay(r *run, x *record, e *errorKind) bool {
	if g.policy.Budget == nil {
		return true
	}
	if !g.budget.Retry(g.policy.Budget, r.time(), e.timeout) {
		return false
	}
	x.permit.retried, x.permit.afterTimeout = true, e.timeout
	return true
}

// ended tells every gate how a call ended; a nil error is a success.
func (g *gates) ended(r *run, x *record, e *errorKind) {
	p := g.policy
	outcome := breaker.Success
	switch {
	case e == nil:
	case e.load:
		outcome = breaker.Failure
	default:
		outcome = breaker.Ignored
	}
	if p.Budget != nil {
		if e == nil {
			g.budget.Success(p.Budget, r.time(), x.permit.retried, x.permit.afterTimeout)
		} else {
			g.budget.Failure(p.Budget, r.time())
		}
		x.permit.retried = false
	}
	if p.Throttle != nil && outcome != breaker.Failure {
		g.throttle.Accepted(p.Throttle, r.time())
	}
	if p.Breaker != nil {
		g.breaker.Record(p.Breaker, x.permit.breaker, r.time(), outcome)
	}
	switch {
	case p.Limiter == nil:
	case p.Staleness > 0:
		g.shared.ended(outcome, r.now-x.began)
	default:
		g.limiter.Record(p.Limiter, x.permit.limiter, r.time(), outcome)
	}
}

// shared is a limiter whose callers bring what they saw together only every Staleness: they admit a share of what they want,
// by the state of the last time.
type shared struct {
	share float64
	tally limiter.Tally
}

func (s *shared) admit(u float64) bool {
	s.tally.Asked++
	if u >= s.share {
		return false
	}
	s.tally.Admitted++
	return true
}

func (s *shared) ended(o breaker.Outcome, took int64) {
	switch o {
	case breaker.Success:
		s.tally.Successes++
	case breaker.Failure:
		s.tally.Failures++
	case breaker.Ignored:
	}
	s.tally.Busy += time.Duration(took)
}

// synchronize brings the tallies of a service's callers together.
func (r *run) synchronize(s *service) {
	g := &s.gates
	span := g.policy.Staleness
	g.limiter.Advance(g.policy.Limiter, g.shared.tally, span, r.time())
	g.shared.share = limiter.Share(g.limiter.Limit(g.policy.Limiter), g.shared.tally, span)
	g.shared.tally = limiter.Tally{}
	r.heap.push(r.later(span), synchronization, uint32(s.index))
}

// away reports whether the gates take the service to be away.
func (g *gates) away() bool {
	p := g.policy
	return p.Breaker != nil && g.breaker.Circuit() != breaker.Closed ||
		p.Limiter != nil && g.limiter.Limit(p.Limiter) <= p.Limiter.Min
}
