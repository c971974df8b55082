package breaker

import (
	"math"
	"time"
)

// State is a breaker as a value: what a [Policy] needs to remember between calls. The zero State is closed and has
// counted no calls. Copying it takes a snapshot; it holds no pointer and its methods allocate nothing.
//
// A State is not safe for concurrent use; [Breaker] is. The caller passes the times. A time earlier than one passed
// before is accepted: the clocks of processes that share a State differ, and a clock may be set back. An earlier time
// never moves the circuit backwards. It lengthens the time for which a circuit is open, a probe holds its slot, or a
// call stays in a window by at most that time again; if the clock was set back further, they end at once.
type State struct {
	circuit     Circuit
	generation  uint64 // number of circuit changes; identifies outcomes of calls from an earlier circuit
	since       int64  // when the circuit last changed; Unix nanoseconds
	consecutive int64  // failures since the last success; of probes, if the circuit is half-open
	failing     int64  // when the first of these ended; Unix nanoseconds
	reopened    int64  // how many times a half-open circuit opened again since it was closed
	window      window

	// State of a half-open circuit.
	admits    int64 // probes at a time
	atLevel   int64 // successes since admits was last raised
	successes int64 // successful probes
	failures  int64 // failed probes
	probes    [MaxProbes]probe

	totals Totals
}

// probe is a call admitted by a half-open circuit. The zero probe is a free slot.
type probe struct {
	id      uint64
	expires int64 // Unix nanoseconds
}

// expired reports whether a probe has held its slot for long enough. One that expires later than a probe that starts
// now began before the clock was set back.
func (pr *probe) expired(p *Policy, at int64) bool {
	timeout := int64(p.ProbeTimeout)
	return pr.expires <= at || pr.expires-timeout > saturatingAdd(at, timeout)
}

// Permit is the right to make one call. Its holder passes it to [State.Record] when the call has ended. A permit
// counts once: recording it again, after it has expired, or after the circuit has changed counts as late.
type Permit struct {
	// Generation is the circuit's generation when the permit was given.
	Generation uint64
	// Probe is the number of the probe; 0 for a call admitted by a closed circuit.
	Probe uint64
}

// Totals holds counts since the State was created or reset.
type Totals struct {
	// Successes and Failures count recorded outcomes that were not late.
	Successes, Failures int64
	// Ignored counts outcomes that said nothing about the callee.
	Ignored int64
	// Rejected counts calls that were refused.
	Rejected int64
	// Late counts outcomes recorded after the circuit had changed or the probe had expired.
	Late int64
	// Expired counts probes that were not recorded in time.
	Expired int64
	// Opened counts how often the circuit opened, HalfOpened how often it became half-open, Closed how often it
	// closed.
	Opened, HalfOpened, Closed int64
	// probes is the number of the most recent probe.
	probes uint64
}

// Circuit returns the circuit without looking at the time: an open circuit becomes half-open only at the first
// [State.Allow] after OpenFor has passed.
func (s *State) Circuit() Circuit { return s.circuit }

// Generation returns the number of circuit changes.
func (s *State) Generation() uint64 { return s.generation }

// Allow requests permission to make a call. It returns false if the circuit is open, or half-open with all probe
// slots taken; [State.RetryAfter] then returns when to ask again.
func (s *State) Allow(p *Policy, now time.Time) (Permit, bool) {
	if s.circuit == Closed {
		return Permit{Generation: s.generation}, true
	}
	at := now.UnixNano()
	if s.circuit == Open {
		if s.openFor(p, at) > 0 {
			s.totals.Rejected++
			return Permit{}, false
		}
		s.enter(HalfOpen, at)
	}
	return s.probe(p, at)
}

// probe assigns a free slot of the half-open circuit.
func (s *State) probe(p *Policy, at int64) (Permit, bool) {
	admits := min(s.admits, int64(p.HalfOpenConcurrency), MaxProbes)
	free, running := -1, int64(0)
	for i := range s.probes {
		switch pr := &s.probes[i]; {
		case pr.id == 0:
			free = i
		case pr.expired(p, at):
			*pr = probe{}
			s.totals.Expired++
			free = i
		default:
			running++
		}
	}
	if free < 0 || running >= admits {
		s.totals.Rejected++
		return Permit{}, false
	}
	s.totals.probes++
	s.probes[free] = probe{id: s.totals.probes, expires: saturatingAdd(at, int64(p.ProbeTimeout))}
	return Permit{Generation: s.generation, Probe: s.totals.probes}, true
}

// Record records the outcome of the call that permit allowed.
func (s *State) Record(p *Policy, permit Permit, now time.Time, outcome Outcome) {
	at := now.UnixNano()
	if permit.Generation != s.generation || (s.circuit == HalfOpen) != (permit.Probe != 0) {
		s.totals.Late++
		return
	}
	if s.circuit == HalfOpen && !s.release(permit.Probe, at) {
		s.totals.Late++
		return
	}
	switch outcome {
	case Success:
		s.totals.Successes++
	case Failure, Throttled, TimedOut:
		s.totals.Failures++
	default:
		s.totals.Ignored++
		return
	}
	if s.circuit == HalfOpen {
		s.probed(p, at, outcome)
	} else {
		s.watched(p, at, outcome)
	}
}

// watched counts the outcome of a call that a closed circuit admitted.
func (s *State) watched(p *Policy, at int64, outcome Outcome) {
	failed := outcome.Failed()
	s.window.add(p, at, failed)
	if !failed {
		s.consecutive = 0
		return
	}
	s.failedInRow(1, at)
	if s.run(p, at) || s.window.tripped(p) {
		s.enter(Open, at)
	}
}

// failedInRow adds failures to those since the last success.
func (s *State) failedInRow(n, at int64) {
	if s.consecutive == 0 {
		s.failing = at
	}
	s.consecutive += n
}

// run reports whether the failures since the last success open a closed circuit.
func (s *State) run(p *Policy, at int64) bool {
	if p.ConsecutiveFailures == 0 || s.consecutive < int64(p.ConsecutiveFailures) {
		return false
	}
	lasting := at - s.failing // below −FailingFor: the clock was set back
	if lasting < int64(p.FailingFor) && lasting > -int64(p.FailingFor) {
		return false
	}
	extra := 0.0 // how many times FailingFor the run has lasted beyond the first
	if p.FailingFor > 0 {
		extra = max(float64(lasting)/float64(p.FailingFor)-1, 0)
	}
	return improbable(p, s.window.requests-s.window.failures, s.window.requests, s.consecutive, extra)
}

// improbable reports whether a run of failures has at most the probability p.Chance × 10^extra for a callee that served
// so many of the requests. The run may be among the requests.
func improbable(p *Policy, successes, requests, run int64, extra float64) bool {
	if p.Chance == 0 || successes <= 0 {
		return true
	}
	most := math.Log(p.Chance) + extra*math.Ln10
	return float64(run)*math.Log1p(-float64(successes)/float64(requests)) <= most
}

// probed counts the outcome of a probe of a half-open circuit.
func (s *State) probed(p *Policy, at int64, outcome Outcome) {
	if outcome.Failed() {
		s.failures++
		s.consecutive++
		if p.Chance == 0 {
			s.admits, s.atLevel = 1, 0
		}
		if s.consecutive > int64(p.HalfOpenFailures) &&
			improbable(p, s.successes, s.successes+s.failures, s.consecutive, 0) {
			s.enter(Open, at)
		}
		return
	}
	s.successes++
	s.consecutive = 0
	if s.successes >= int64(p.SuccessThreshold) {
		successes, failures := s.successes, s.failures
		s.enter(Closed, at)
		if p.Chance > 0 { // the next run of failures is judged by the rate of the probes
			s.window.addMany(p, at, successes, failures)
		}
		return
	}
	if s.atLevel++; s.atLevel >= s.admits {
		s.admits, s.atLevel = min(2*s.admits, MaxProbes), 0
	}
}

// release frees a probe's slot. It returns false if the probe no longer held one.
func (s *State) release(id uint64, at int64) bool {
	for i := range s.probes {
		if s.probes[i].id == id {
			held := s.probes[i].expires > at
			s.probes[i] = probe{}
			if !held {
				s.totals.Expired++
			}
			return held
		}
	}
	return false
}

// enter changes the circuit and clears the counts of the previous one.
func (s *State) enter(c Circuit, at int64) {
	switch {
	case c == Closed || s.circuit == Closed:
		s.reopened = 0
	case c == Open && s.circuit == HalfOpen:
		s.reopened++
	}
	s.circuit, s.since = c, at
	s.generation++
	s.consecutive, s.failing, s.window = 0, 0, window{}
	s.admits, s.atLevel, s.successes, s.failures, s.probes = 0, 0, 0, 0, [MaxProbes]probe{}
	switch c {
	case Closed:
		s.totals.Closed++
	case HalfOpen:
		s.totals.HalfOpened++
		s.admits = 1
	case Open:
		s.totals.Opened++
	}
}

// openFor returns the time for which an open circuit refuses calls from now on; 0 if it may become half-open.
func (s *State) openFor(p *Policy, at int64) int64 {
	passed, lasts := at-s.since, int64(p.openFor(s.reopened))
	if passed <= -lasts { // the circuit opened before the clock was set back
		return 0
	}
	return max(lasts-passed, 0)
}

// RetryAfter returns the minimum time that a refused caller has to wait before it can be admitted: until an open
// circuit becomes half-open, or until the first probe of a half-open one expires. It returns 0 if a call may be
// admitted now.
func (s *State) RetryAfter(p *Policy, now time.Time) time.Duration {
	at := now.UnixNano()
	switch s.circuit {
	case Open:
		return time.Duration(s.openFor(p, at))
	case HalfOpen:
		first, running := int64(math.MaxInt64), int64(0)
		for _, pr := range s.probes {
			if pr.id != 0 && !pr.expired(p, at) {
				running++
				first = min(first, pr.expires)
			}
		}
		if running >= min(s.admits, int64(p.HalfOpenConcurrency), MaxProbes) {
			return time.Duration(first - at)
		}
	case Closed:
	}
	return 0
}

// Trip opens the circuit from any state, so that an operator can stop all calls for OpenFor.
func (s *State) Trip(now time.Time) { s.enter(Open, now.UnixNano()) }

// Reset closes the circuit and clears everything but the generation; outcomes of calls that are still running count
// as late.
func (s *State) Reset(now time.Time) {
	*s = State{generation: s.generation + 1, since: now.UnixNano()}
}

func saturatingAdd(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}
