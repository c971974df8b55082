package breaker

import "time"

// Tally counts calls of a closed circuit that other processes made and added up, as if they had ended now. Failures
// count as consecutive only if there was no success among them. A circuit that is not closed counts them as late,
// because its probes are recorded by their permits.
func (s *State) Tally(p *Policy, successes, failures int64, now time.Time) {
	successes, failures = max(successes, 0), max(failures, 0)
	if s.circuit != Closed {
		s.totals.Late += successes + failures
		return
	}
	at := now.UnixNano()
	s.totals.Successes += successes
	s.totals.Failures += failures
	s.window.addMany(p, at, successes, failures)
	if successes > 0 {
		s.consecutive = 0
	} else {
		s.failedInRow(failures, at)
	}
	if failures > 0 && (s.run(p, at) || s.window.tripped(p)) {
		s.enter(Open, at)
	}
}
