package breaker

import (
	"errors"
	"fmt"
	"time"
)

// MaxProbes is the largest HalfOpenConcurrency: a [State] has this many probe slots.
const MaxProbes = 16

// MaxWindowRequests is the largest WindowRequests: a [State] stores this many outcomes.
const MaxWindowRequests = 256

// Policy defines when a circuit opens and how it closes again. A closed circuit opens by either of two rules:
//
//   - ConsecutiveFailures failures without a success in between, over at least FailingFor, if so many failures in a
//     row are improbable (Chance) at the success rate that the callee had in the window;
//   - within the window, at least MinimumRequests calls, at least MinimumFailures failures, and failures ÷ calls at
//     least FailureRate. The rule is off while FailureRate and MinimumFailures are both 0.
//
// The window is the last Window of time, or the last WindowRequests calls; exactly one of the two is set when the
// second rule is on or Chance is set.
type Policy struct {
	// ConsecutiveFailures is the number of failures in a row that opens the circuit; 0 switches the rule off.
	ConsecutiveFailures int
	// FailingFor is the minimum time from the first to the last of the failures in a row, so that a pause of the
	// callee does not open the circuit; 0 means none.
	FailingFor time.Duration
	// Chance is the largest probability at which a run of failures opens the circuit: a callee that served a share r of
	// its calls in the window fails n calls in a row with the probability (1 − r)ⁿ. A run without a success in the
	// whole window has probability 0. In a half-open circuit, r is the share of its successful probes. 0 means that any
	// run counts.
	//
	// Chance is for a run that lasts FailingFor. For each FailingFor longer that nothing succeeds, a run may be ten
	// times as probable. Otherwise an outage soon after the first calls would not open the circuit before these have
	// left the window: if twelve calls have succeeded, no run of failures, however long, is less probable than 10⁻⁶.
	//
	// With Chance, a circuit cannot latch in a partial outage. The runs of failures that such an outage causes are not
	// improbable, and a half-open circuit closes by its successes, however many other probes fail.
	Chance float64

	// FailureRate is the share of failures in the window that opens the circuit; 0 to 1.
	FailureRate float64
	// MinimumRequests is the number of calls the window needs before its rate is evaluated; 0 or more.
	MinimumRequests int
	// MinimumFailures is the number of failures the window needs before its rate opens the circuit; 0 or more.
	// Without a FailureRate, this number of failures alone opens the circuit.
	MinimumFailures int
	// Window is the length of a time window, tracked in ten slices; at least 10 ns.
	Window time.Duration
	// WindowRequests is the length of a window in calls; at most MaxWindowRequests.
	WindowRequests int

	// OpenFor is the time for which an open circuit refuses all calls; above 0.
	OpenFor time.Duration
	// OpenFirst is the time for which a circuit refuses all calls when it has just opened. It doubles each time that a
	// half-open circuit opens again, up to OpenFor. 0 means OpenFor from the beginning; at most OpenFor.
	OpenFirst time.Duration
	// HalfOpenConcurrency limits the concurrent probes of a half-open circuit; 1 to MaxProbes. The current limit
	// starts at 1. It doubles each time that as many probes have succeeded as it admits.
	HalfOpenConcurrency int
	// SuccessThreshold is the number of probes that must succeed to close the circuit; at least 1.
	SuccessThreshold int
	// HalfOpenFailures is the number of probes that may fail in a row before the circuit opens again; 0 means that the
	// first failure opens it. After a success, Chance applies too.
	HalfOpenFailures int
	// ProbeTimeout is the time for which a probe keeps its slot without an outcome; above 0. A caller that dies
	// during a probe holds a slot no longer than that; an outcome reported later is not counted.
	ProbeTimeout time.Duration
}

// Conservative returns the policy of the retry design (M6): five failures in a row open the circuit for 60 s, three
// successes close it. It admits one probe at a time, because recovery in the design begins with one call. The probe
// timeout is this project's addition.
func Conservative() Policy {
	return Policy{
		ConsecutiveFailures: 5,
		OpenFor:             time.Minute,
		SuccessThreshold:    3,
		HalfOpenConcurrency: 1,
		ProbeTimeout:        time.Minute,
	}
}

// Callee returns the policy for a callee that many workers share. The circuit opens if nothing succeeds for 15 s,
// in which a limiter has reached its minimum: at least ten calls in a row fail, so many that a callee with the
// success rate of the last five minutes would do so once in a million times, and ten times as often for each 15 s
// longer. It probes after 2.5 s, after 5 s more, and then every 10 s, with two calls each. If neither succeeds, it
// stays open; otherwise it admits 1, 2, 4 and 8 at a time and closes after 15 successes.
func Callee() Policy {
	return Policy{
		ConsecutiveFailures: 10, FailingFor: 15 * time.Second, Chance: 1e-6, Window: 5 * time.Minute,
		OpenFirst: 2500 * time.Millisecond, OpenFor: 10 * time.Second, SuccessThreshold: 15,
		HalfOpenConcurrency: 8, HalfOpenFailures: 1,
		ProbeTimeout: 30 * time.Second,
	}
}

// Validate returns an error for each field that is out of range, all joined.
func (p Policy) Validate() error {
	var problems []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf("breaker: "+format, args...))
		}
	}
	check(p.ConsecutiveFailures >= 0, "ConsecutiveFailures is %d; it must be 0 (off) or more", p.ConsecutiveFailures)
	check(p.FailingFor >= 0, "FailingFor is %v; it must be 0 (none) or more", p.FailingFor)
	check(p.Chance >= 0 && p.Chance < 1, "Chance is %v; it must be 0 (off) or more, and below 1", p.Chance)
	check(p.Chance == 0 || p.Window > 0 || p.WindowRequests > 0, "Chance is set without Window or WindowRequests")
	check(p.FailureRate >= 0 && p.FailureRate <= 1, "FailureRate is %v; it must be between 0 and 1", p.FailureRate)
	check(p.MinimumRequests >= 0, "MinimumRequests is %d; it must be 0 or more", p.MinimumRequests)
	check(p.MinimumFailures >= 0, "MinimumFailures is %d; it must be 0 or more", p.MinimumFailures)
	check(p.Window == 0 || p.Window >= slices, "Window is %v; it must be at least %d ns", p.Window, slices)
	check(p.WindowRequests >= 0 && p.WindowRequests <= MaxWindowRequests,
		"WindowRequests is %d; it must be between 0 and %d", p.WindowRequests, MaxWindowRequests)
	check(p.Window == 0 || p.WindowRequests == 0,
		"Window and WindowRequests are both set; a window is either of time or of calls")
	check(!p.watches() || p.Window > 0 || p.WindowRequests > 0,
		"FailureRate or MinimumFailures is set without Window or WindowRequests")
	check(p.ConsecutiveFailures > 0 || p.watches(),
		"nothing opens the circuit; set ConsecutiveFailures, FailureRate or MinimumFailures")
	check(p.WindowRequests == 0 || p.MinimumRequests <= p.WindowRequests,
		"MinimumRequests is %d, more than a window of %d calls holds", p.MinimumRequests, p.WindowRequests)
	check(p.WindowRequests == 0 || p.MinimumFailures <= p.WindowRequests,
		"MinimumFailures is %d, more than a window of %d calls holds", p.MinimumFailures, p.WindowRequests)
	check(p.OpenFor > 0, "OpenFor is %v; it must be above 0", p.OpenFor)
	check(p.OpenFirst >= 0 && p.OpenFirst <= max(p.OpenFor, 0), "OpenFirst is %v; it must be between 0 and OpenFor",
		p.OpenFirst)
	check(p.HalfOpenConcurrency >= 1 && p.HalfOpenConcurrency <= MaxProbes,
		"HalfOpenConcurrency is %d; it must be between 1 and %d", p.HalfOpenConcurrency, MaxProbes)
	check(p.SuccessThreshold >= 1, "SuccessThreshold is %d; it must be at least 1", p.SuccessThreshold)
	check(p.HalfOpenFailures >= 0, "HalfOpenFailures is %d; it must be 0 or more", p.HalfOpenFailures)
	check(p.ProbeTimeout > 0, "ProbeTimeout is %v; it must be above 0", p.ProbeTimeout)
	return errors.Join(problems...)
}

// watches reports whether the window rule is on.
func (p *Policy) watches() bool { return p.FailureRate > 0 || p.MinimumFailures > 0 }

// openFor returns the time for which a circuit is open that has opened again so many times.
func (p *Policy) openFor(reopened int64) time.Duration {
	if p.OpenFirst == 0 {
		return p.OpenFor
	}
	d := p.OpenFirst
	for range reopened {
		if d >= p.OpenFor/2 {
			return p.OpenFor
		}
		d *= 2
	}
	return min(d, p.OpenFor)
}
