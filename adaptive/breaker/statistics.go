package breaker

import "time"

// Statistics is what a breaker looks like at one moment.
type Statistics struct {
	// Circuit is where it stands; Since is when it came there, the zero time when it never changed.
	Circuit Circuit
	Since   time.Time
	// Requests and Failures are those of a closed circuit's window; Rate is their ratio, 0 without requests.
	Requests, Failures int64
	Rate               float64
	// Consecutive counts a closed circuit's failures since the last success.
	Consecutive int64
	// Probes are the calls that a half-open circuit has admitted and that have not ended; Admits is how many it
	// admits at a time, and ProbeSuccesses how many succeeded so far. All are 0 when it is not half-open.
	Probes, Admits, ProbeSuccesses int64
	// RetryAfter is [State.RetryAfter].
	RetryAfter time.Duration
	// Totals count since the beginning or the last reset.
	Totals Totals
}

// Statistics looks at the state without changing it.
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
			if pr.id != 0 && pr.expires > at {
				out.Probes++
			}
		}
	}
	return out
}
