package review

import (
	"stepback/asl"
	"stepback/asl/source"
)

var exhaustedNotCaught = Rule{
	Code: "EXHAUSTED_NOT_CAUGHT", Severity: asl.SeverityWarning,
	Title: "an item that exhausts its retries fails the whole Map",
	Why: "One failed iteration ends the Map state and aborts the others. Catch what fails after all retries and " +
		"record it (a dead letter), or give a distributed Map a tolerated failure.",
	check: func(s *subject) {
		if s.Type != asl.Task || s.mapping == nil || s.catches(taskFailed) || s.catches(allErrors) || s.parks() {
			return
		}
		m := s.mapping.Map
		tolerates := m.Distributed && (m.ToleratedFailureCount.Present() || m.ToleratedFailurePercentage.Present())
		if tolerates || s.aroundCatches() {
			return
		}
		retried := false
		s.active(func(int, *asl.Retrier) { retried = true })
		if retried {
			s.found(s.in(source.Member("Catch")), nil, "catch States.ALL and keep the item, or tolerate failures",
				"an item that exhausts its retries fails the whole Map, and leaves no dead letter")
		}
	},
}

// aroundCatches reports whether a Parallel or Map state between this state and its Map catches errors inside. The Map
// itself does not count: when it catches, its other iterations are already lost.
func (s *subject) aroundCatches() bool {
	for i := range s.r.subjects {
		o := &s.r.subjects[i]
		if s.inside(o) && o.State != s.mapping && o.mapping == s.mapping && o.catches(allErrors) {
			return true
		}
	}
	return false
}

var catchLoop = Rule{
	Code: "CATCH_LOOP_RETRIES_FOREVER", Severity: asl.SeverityError,
	Title: "a catcher returns to its own state, without a limit",
	Why: "Retries are counted from zero each time a state is entered. A catcher whose path returns to the state, " +
		"without a Choice on the way, retries a permanent failure until the history is full. Count the rounds in the " +
		"input, and limit them.",
	check: func(s *subject) {
		for i := range s.Catch {
			if s.returns(s.Catch[i].Next) {
				s.found(s.catcher(i).Join(source.Member("Next")), nil, "count the rounds in a Choice state on the way",
					"from here the path returns to %s without a Choice: a permanent failure is retried for ever",
					s.Name)
			}
		}
	},
}

// returns reports whether the execution returns from another state to this one by transitions that do not depend on
// a Choice.
func (s *subject) returns(from string) bool {
	seen := map[string]bool{}
	for next := from; next != "" && !seen[next]; {
		if next == s.Name {
			return true
		}
		seen[next] = true
		x := s.graph.State(next)
		if x == nil || x.Type == asl.Choice {
			return false
		}
		next = x.Next
	}
	return false
}
