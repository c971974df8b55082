package breaker

import "time"

// Statistics describes a breaker at one moment.
type Statistics struct {
	// Circuit is the present circuit. Since is the time at which the circuit entered it; zero if it never changed.
	Circuit Circuit
	Since   time.Time
	// Requests and Failures count the calls in a closed circuit's window. Rate is Failures ÷ Requests, or 0 without
	// requests.
	Requests, Failures int64
	Rate               float64
	// Consecutive counts the failures since the last success: of calls, or of a half-open circuit's probes.
	Consecutive int64
	// Probes is the number of admitted probes that have not ended. Admits is the number of probes admitted at a
	// time. ProbeSuccesses is the number of probes that have succeeded so far. All are 0 if the circuit is not
	// half-open.
	Probes, Admits, ProbeSuccesses int64
	// RetryAfter is the result of [State.RetryAfter].
	RetryAfter time.Duration
	// Totals holds counts since the beginning or the last reset.
	Totals Totals
}

// Statistics returns the statistics without changing the state.
func (s *State) Statistics(p *Policy, now time.Time) Statistics {
	w, at := s.window, now.UnixNano()
	if p.Window > 0 && w.width > 0 {
		w.advance(p, at)
	}
	out := Statistics{
		Circuit: s.circuit, Requests: w.requests, Failures: w.failures, Consecutive: s.consecutive,
		ProbeSuccesses: s.successes, RetryAfter: s.RetryAfter(p, now), Totals: s.totals,
	}
	if s.since != 0 {
		out.Since = time.Unix(0, s.since).UTC()
	}
	if w.requests > 0 {
		out.Rate = float64(w.failures) / float64(w.requests)
	}
	if s.circuit == HalfOpen {
		out.Admits = min(s.admits, int64(p.HalfOpenConcurrency), MaxProbes)
		for _, pr := range s.probes {
			if pr.id != 0 && !pr.expired(p, at) {
				out.Probes++
			}
		}
	}
	return out
}
