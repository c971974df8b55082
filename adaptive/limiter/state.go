package limiter

import (
	"math"
	"time"

	"stepback/adaptive/breaker"
)

// epochs is the number of spans whose admitted calls are counted separately: the current span, and the four that
// make up the last PermitTimeout.
const epochs = 5

// State is a limiter as a value. The zero State has the policy's initial limit and no call under way. It holds no
// pointer and its methods allocate nothing; copying it takes a snapshot. It is not safe for concurrent use; [Limiter]
// is.
type State struct {
	limit     float64 // 0: the policy's initial limit
	decreased int64   // when the limit was last lowered; Unix nanoseconds

	// These fields cover the calls that ended since the limit was last judged: their numbers, and for how many
	// nanoseconds they lasted. lost is the time lost to failed calls that were admitted while the limit was in use; see
	// Lost.
	judged        int64 // Unix nanoseconds; 0: never
	ended, failed int64
	busy, lost    int64
	// typical is the smoothed duration of successes in nanoseconds; 0 before the first.
	typical int64

	// asked and refused are the recent numbers of calls asked for and refused, which decrease over time, as of counted.
	asked, refused float64
	counted        int64 // Unix nanoseconds

	// These fields count the calls under way by the epoch in which they were admitted. A call that is never
	// recorded expires with its epoch.
	epoch    int64
	inFlight [epochs]int64
	total    int64
}

// Permit is the right to make one call. Pass it to [State.Record] when the call has ended.
type Permit struct {
	epoch int64
	began int64 // Unix nanoseconds; 0: unknown
	// used is true if at least half of the limit was in use when the call was admitted. A limit that is not used is
	// not raised.
	used bool
}

// Limit returns the number of calls admitted at a time. It may be a fraction; only whole calls are admitted.
func (s *State) Limit(p *Policy) float64 {
	if s.limit == 0 {
		return p.Initial
	}
	return min(max(s.limit, p.Min), p.Max)
}

// InFlight returns the number of calls that were admitted, have not ended, and are not older than the policy's
// PermitTimeout.
func (s *State) InFlight(p *Policy, now time.Time) int64 {
	s.expire(p, now.UnixNano())
	return s.total
}

// Allow requests permission to make a call; it returns false if as many calls are under way as the limit admits.
func (s *State) Allow(p *Policy, now time.Time) (Permit, bool) {
	s.expire(p, now.UnixNano())
	limit := s.Limit(p)
	if float64(s.total) > limit-1 {
		s.count(1, 1, now.UnixNano())
		return Permit{}, false
	}
	s.count(1, 0, now.UnixNano())
	s.inFlight[s.epoch%epochs]++
	s.total++
	return Permit{epoch: s.epoch, began: now.UnixNano(), used: float64(2*s.total) >= limit}, true
}

const (
	// memory is the time constant with which refusals are forgotten.
	memory = 30 * time.Second
	// few is the largest share of refused calls with which the callee keeps up with its load.
	few = 0.2
)

// count adds calls to those asked for and refused.
func (s *State) count(asked, refused float64, at int64) {
	keep := math.Exp(-time.Duration(max(at-s.counted, 0)).Seconds() / memory.Seconds())
	s.asked, s.refused, s.counted = s.asked*keep+asked, s.refused*keep+refused, at
}

// Momentary reports whether the limiter refuses few calls: at most one in five of those of the last half minute or so.
// The callee then keeps up with the load, and a refused call finds room within seconds: the limit was reached by a
// burst, or because calls hang for a moment. If more are refused, callers that return soon would be in the way of each
// other and of the work that is behind already.
func (s *State) Momentary() bool { return s.refused <= few*s.asked }

// Record records the outcome of the call that permit allowed. A success of a call that was admitted while the limit
// was in use raises the limit. Failures lower it every [Policy.DecreaseEvery]; see [Policy.Decrease]. A throttled
// call counts as one that took as long as a success: the callee refuses it at once, and asks for fewer calls. An
// ignored outcome only ends the call. The outcome of an expired permit still counts, but frees no slot.
func (s *State) Record(p *Policy, permit Permit, now time.Time, outcome breaker.Outcome) {
	at := now.UnixNano()
	s.expire(p, at)
	if permit.epoch <= s.epoch && permit.epoch > s.epoch-epochs && s.inFlight[permit.epoch%epochs] > 0 {
		s.inFlight[permit.epoch%epochs]--
		s.total--
	}
	if outcome == breaker.Ignored {
		return
	}
	took := int64(1)
	if permit.began > 0 && at > permit.began {
		took = at - permit.began
	}
	switch outcome {
	case breaker.Success:
		if s.typical == 0 {
			s.typical = took
		}
		s.typical += (took - s.typical) / 16
	case breaker.Throttled:
		took = max(took, s.typical)
	case breaker.Failure, breaker.TimedOut, breaker.Ignored:
	}
	s.ended++
	s.busy += took
	switch {
	case outcome.Failed():
		s.failed++
		if permit.used {
			s.lost += int64(Lost(outcome, time.Duration(took), time.Duration(s.typical)))
		}
	case permit.used:
		s.raise(p, 1)
	}
	s.judge(p, at)
}

// Lost returns how much of the time that a failed call took was lost to the failure. typical is the duration of a
// success; 0 means unknown. Of an error with which the callee answers, only the time beyond that of a success is lost:
// errors by chance take as long as successes, and fewer calls at a time would fail as often. Timeouts and throttled
// calls count in full.
func Lost(outcome breaker.Outcome, took, typical time.Duration) time.Duration {
	if outcome == breaker.Failure {
		return max(took-typical, 0)
	}
	return took
}

// raise applies n successes to the limit.
func (s *State) raise(p *Policy, n float64) {
	limit := s.Limit(p)
	s.limit = min(limit+n*p.Increase/limit, p.Max)
}

// The number of calls without a success that lower a limit that is not in use, and the number of spans for which fewer
// are collected.
const (
	fewest  = 5
	longest = 10
)

// judge lowers the limit once per DecreaseEvery, by the calls that ended since.
func (s *State) judge(p *Policy, at int64) {
	since := at - s.judged // below −DecreaseEvery: the clock was set back
	if s.judged == 0 {
		s.judged, since = at, 0
	}
	every := int64(p.DecreaseEvery)
	if since < every && since > -every {
		return
	}
	if s.lost == 0 && s.failed == s.ended && s.ended < fewest && since >= 0 && since < longest*every {
		return // too few to judge yet
	}
	if factor := p.factor(s.ended, s.failed, float64(s.lost)/float64(s.busy)); factor < 1 {
		s.lower(p, at, factor)
	}
	s.judged, s.ended, s.failed, s.busy, s.lost = at, 0, 0, 0, 0
}

// factor returns the factor by which calls that ended lower the limit; 1 if they do not. lost is the share of their
// time that failed although the limit was in use.
func (p *Policy) factor(ended, failed int64, lost float64) float64 {
	if failed == ended && ended >= fewest {
		return p.Decrease
	}
	return max(p.Decrease, 1-lost/2)
}

func (s *State) lower(p *Policy, at int64, factor float64) {
	s.limit = max(s.Limit(p)*factor, p.Min)
	s.decreased = at
}

// expire drops the calls of epochs that are over.
func (s *State) expire(p *Policy, at int64) {
	epoch := max(at, 0) / max(int64(p.PermitTimeout)/(epochs-1), 1)
	if s.epoch == epoch {
		return
	}
	if epoch < s.epoch-epochs { // the clock was set back: the calls under way expire as if they had been admitted now
		old := *s
		for i := range int64(epochs) {
			s.inFlight[(epoch-i+epochs)%epochs] = old.inFlight[(old.epoch-i)%epochs]
		}
		s.epoch = epoch
	}
	for range min(max(epoch-s.epoch, 0), epochs) {
		s.epoch++
		s.total -= s.inFlight[s.epoch%epochs]
		s.inFlight[s.epoch%epochs] = 0
	}
	s.epoch = max(s.epoch, epoch)
}
