package simulation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"stepback/adaptive/breaker"
	"stepback/adaptive/budget"
	"stepback/adaptive/lab/draw"
	"stepback/adaptive/lab/policy"
	"stepback/adaptive/limiter"
	"stepback/adaptive/poison"
	"stepback/adaptive/shared"
	"stepback/retry"
)

// gates are the mechanisms of package adaptive with which a policy guards one service. All callers share them.
type gates struct {
	policy   *policy.Policy
	budgets  []budget.State // by client
	throttle budget.Throttle
	breaker  breaker.State
	limiter  limiter.State
	poison   poison.State
	typical  int64 // smoothed duration of successful calls, in nanoseconds
	// fleet replaces breaker and limiter if the policy shares them with a delay. u is the number that its next draw
	// returns.
	fleet []*shared.Gate
	u     float64
}

// permits are the permits that a record holds while its call is in flight.
type permits struct {
	breaker breaker.Permit
	limiter limiter.Permit
	shared  shared.Permit
	process uint8 // index of the calling process in the fleet
	// retried and after are the arguments reported to the budget for the retry that is in flight.
	retried bool
	after   retry.Cause
}

// refusal identifies the gate that refuses a call.
type refusal uint8

const (
	admitted refusal = iota
	throttled
	circuitOpen
	limited
	crowded // limited for the moment
)

// epoch is the wall-clock time at which runs start, for mechanisms that need one.
const epoch = 1_767_225_600_000_000_000 // 2026-01-01T00:00:00Z

func (r *run) time() time.Time { return time.Unix(0, epoch+r.now) }

// admit asks every gate to admit one call.
func (g *gates) admit(r *run, x *record) refusal {
	p := g.policy
	if p.Budget != nil && x.calls == 0 && x.asked == 1 {
		g.budget(r, x).Request(p.Budget, r.time())
	}
	item := uint64(x.workload)<<32 | uint64(x.index)
	if p.Throttle != nil {
		u := draw.Float(r.Seed, forThrottle, item, uint64(x.before+x.asked))
		if !g.throttle.Allow(p.Throttle, r.time(), u) {
			return throttled
		}
	}
	if g.fleet != nil {
		return g.admitShared(x, draw.Float(r.Seed, forProcess, item, uint64(x.before+x.asked)))
	}
	if p.Breaker != nil {
		permit, ok := g.breaker.Allow(p.Breaker, r.time())
		if !ok {
			return circuitOpen
		}
		x.permit.breaker = permit
	}
	if p.Limiter != nil {
		permit, ok := g.limiter.Allow(p.Limiter, r.time())
		if !ok {
			if p.Breaker != nil {
				g.breaker.Record(p.Breaker, x.permit.breaker, r.time(), breaker.Ignored)
			}
			return limit(g.limiter.Momentary())
		}
		x.permit.limiter = permit
	}
	return admitted
}

// budget returns the budget of the client that makes a record's calls.
func (g *gates) budget(r *run, x *record) *budget.State {
	n := uint64(len(g.budgets))
	if n == 1 {
		return &g.budgets[0]
	}
	return &g.budgets[draw.Bits(r.Seed, forProcess, uint64(x.workload)<<32|uint64(x.index), 0)%n]
}

// pay asks the budget for a retry. It returns false if the budget refuses.
func (g *gates) pay(r *run, x *record, e *errorKind) bool {
	if g.policy.Budget == nil {
		return true
	}
	if !g.budget(r, x).Retry(g.policy.Budget, r.time(), e.cause) {
		return false
	}
	x.permit.retried, x.permit.after = true, e.cause
	return true
}

// ended reports to every gate how a call ended; a nil error is a success.
func (g *gates) ended(r *run, x *record, e *errorKind) {
	p := g.policy
	outcome := breaker.Success
	switch {
	case e == nil:
	case e.load && e.cause == retry.CauseThrottle:
		outcome = breaker.Throttled
	case e.load && retry.IsTimeout(e.name):
		outcome = breaker.TimedOut
	case e.load:
		outcome = breaker.Failure
	default:
		outcome = breaker.Ignored
	}
	if p.Budget != nil {
		if e == nil {
			g.budget(r, x).Success(p.Budget, r.time(), x.permit.retried, x.permit.after)
		} else {
			g.budget(r, x).Failure(p.Budget, r.time())
		}
		x.permit.retried = false
	}
	if p.Throttle != nil && !outcome.Failed() {
		g.throttle.Accepted(p.Throttle, r.time())
	}
	if g.fleet != nil {
		g.fleet[x.permit.process].Record(context.Background(), x.permit.shared, outcome)
		return
	}
	if p.Poison && outcome != breaker.Ignored {
		g.poison.Record(poison.Attempt{Retry: int(x.calls) - 1, After: x.failed, Failed: outcome.Failed(),
			Cheap: g.cheap(r, x)}, r.time())
		x.failed = poison.KindOf(outcome)
		if outcome == breaker.Success {
			g.typical += (r.now - x.began - g.typical) / 8
		}
	}
	if p.Breaker != nil {
		g.breaker.Record(p.Breaker, x.permit.breaker, r.time(), outcome)
	}
	if p.Limiter != nil {
		g.limiter.Record(p.Limiter, x.permit.limiter, r.time(), outcome)
	}
}

// fleet is the number of processes that share a gate; each call is assigned to one of them at random.
const fleet = 20

// share replaces a policy's breaker and limiter by ones that a fleet of processes shares through a store, as in
// production. A process's readings are at most as old as the policy's Staleness.
func (g *gates) share(r *run, name string) {
	store := &shared.Memory{}
	policies := shared.Policies{Breaker: *g.policy.Breaker, Limiter: *g.policy.Limiter}
	for range fleet {
		gate, err := shared.NewGate(store, name, policies, shared.Config{
			Cache: g.policy.Staleness, Timeout: time.Hour, Now: r.time, Draw: func() float64 { return g.u },
		})
		if err != nil {
			panic(fmt.Sprintf("simulation: a validated policy is refused: %v", err))
		}
		g.fleet = append(g.fleet, gate)
	}
}

// admitShared picks a process of the fleet by u, and asks its gate to admit a call.
func (g *gates) admitShared(x *record, u float64) refusal {
	x.permit.process = uint8(u * fleet)
	g.u = u*fleet - float64(x.permit.process)
	permit, err := g.fleet[x.permit.process].Allow(context.Background())
	var open *breaker.OpenError
	var exhausted *limiter.ExhaustedError
	switch {
	case err == nil:
		x.permit.shared = permit.Of(uint64(x.workload)<<32|uint64(x.index), x.retries())
		return admitted
	case errors.As(err, &open):
		return circuitOpen
	default:
		return limit(errors.As(err, &exhausted) && exhausted.Momentary)
	}
}

// limit returns the refusal of a limiter.
func limit(momentary bool) refusal {
	if momentary {
		return crowded
	}
	return limited
}

// away reports whether the gates consider the service down. With a shared gate, it asks the process that made the
// record's call.
func (g *gates) away(x *record) bool {
	p := g.policy
	if g.fleet != nil {
		return g.fleet[x.permit.process].Away()
	}
	return p.Breaker != nil && g.breaker.Circuit() != breaker.Closed ||
		p.Limiter != nil && g.limiter.Limit(p.Limiter) <= p.Limiter.Min
}

// retries returns the number of retries of a record so far, as a function knows it ($$.State.RetryCount): it includes
// those after refusals.
func (x *record) retries() int { return int(x.asked) - 1 }

// blameless reports whether other records fail as well, so that the failures of x say nothing about x. See
// poison.State.Blameless.
func (g *gates) blameless(x *record) bool {
	if g.fleet != nil {
		return g.fleet[x.permit.process].Blameless(x.permit.shared)
	}
	return g.poison.Blameless(int(x.calls), x.failed)
}

// futile reports whether the next retry of a record is not made because it is futile.
func (g *gates) futile(r *run, x *record) bool {
	u := draw.Float(r.Seed, forPoison, uint64(x.workload)<<32|uint64(x.index), uint64(x.before+x.asked))
	if g.fleet != nil {
		g.u = u
		return g.fleet[x.permit.process].Futile(x.permit.shared, time.Duration(r.now-x.began))
	}
	return !g.cheap(r, x) && g.poison.Futile(int(x.calls), x.failed) && u >= poison.Explored
}

// cheap reports whether a record's call took less time than successful calls do.
func (g *gates) cheap(r *run, x *record) bool { return r.now-x.began < g.typical }
