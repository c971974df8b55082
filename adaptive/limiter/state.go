package limiter

import (
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

	// These fields count the calls under way by the epoch in which they were admitted. A call that is never
	// recorded expires with its epoch.
	epoch    int64
	inFlight [epochs]int64
	total    int64
}

// Permit is the right to make one call. Pass it to [State.Record] when the call has ended.
type Permit struct {
	epoch int64
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
		return Permit{}, false
	}
	s.inFlight[s.epoch%epochs]++
	s.total++
	return Permit{epoch: s.epoch, used: float64(2*s.total) >= limit}, true
}

// Record records the outcome of the call that permit allowed: a success raises the limit, a failure of the callee
// lowers it, and an ignored outcome only ends the call. The outcome of an expired permit still counts, but frees no
// slot.
func (s *State) Record(p *Policy, permit Permit, now time.Time, outcome breaker.Outcome) {
	at := now.UnixNano()
	s.expire(p, at)
	if permit.epoch <= s.epoch && permit.epoch > s.epoch-epochs && s.inFlight[permit.epoch%epochs] > 0 {
		s.inFlight[permit.epoch%epochs]--
		s.total--
	}
	switch outcome {
	case breaker.Success:
		if permit.used {
			s.raise(p, 1)
		}
	case breaker.Failure:
		s.lower(p, at)
	case breaker.Ignored:
	}
}

// raise applies n successes to the limit.
func (s *State) raise(p *Policy, n float64) {
	limit := s.Limit(p)
	s.limit = min(limit+n*p.Increase/limit, p.Max)
}

// lower applies one or more failures to the limit.
func (s *State) lower(p *Policy, at int64) {
	since := at - s.decreased // below −DecreaseEvery: the clock was set back
	if s.decreased != 0 && since < int64(p.DecreaseEvery) && since > -int64(p.DecreaseEvery) {
		return
	}
	s.limit = max(s.Limit(p)*p.Decrease, p.Min)
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
