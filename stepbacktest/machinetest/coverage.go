package machinetest

import (
	"fmt"
	"slices"

	"stepback/asl"
	"stepback/engine/history"
	"stepback/engine/timeline"
)

// Coverage reports what the tests of a definition have covered.
type Coverage struct {
	Definition  string `json:"definition"`
	States      Share  `json:"states"`
	Transitions Share  `json:"transitions"`
	Catchers    Share  `json:"catchers"`
	Retriers    Share  `json:"retriers"`
}

// OperationCoverage reports what the tests of a durable function have covered. Retries contains the steps of which an
// attempt was retried, and Errors the steps, callbacks and invokes that failed in the end.
type OperationCoverage struct {
	Function string `json:"function"`
	Steps    Share  `json:"steps"`
	Retries  Share  `json:"retries"`
	Errors   Share  `json:"errors"`
}

// Share holds the number of covered elements, the number of all elements, and the elements that were missed.
type Share struct {
	Covered int      `json:"covered"`
	All     int      `json:"all"`
	Missed  []string `json:"missed"`
}

// Cover returns the combined coverage of the tests of one definition.
func Cover(m *asl.Machine, definition string, results []*Result) Coverage {
	seen := map[string]bool{}
	for _, r := range results {
		note(seen, m, r.Events)
		for _, events := range r.Children {
			note(seen, m, events)
		}
	}
	c := Coverage{Definition: definition}
	each(&m.Graph, func(s *asl.State) {
		c.States.Count(s.Name, seen["state "+s.Name])
		for _, next := range transitions(s) {
			what := s.Name + " → " + next
			c.Transitions.Count(what, seen["transition "+what])
		}
		for i := range s.Catch {
			what := fmt.Sprintf("%s Catch[%d] → %s", s.Name, i, s.Catch[i].Next)
			c.Catchers.Count(what, seen["catcher "+what])
		}
		for i := range s.Retry {
			what := fmt.Sprintf("%s Retry[%d]", s.Name, i)
			c.Retriers.Count(what, seen["retrier "+what])
		}
	})
	return c
}

// Count adds an element.
func (s *Share) Count(what string, covered bool) {
	s.All++
	if covered {
		s.Covered++
		return
	}
	s.Missed = append(s.Missed, what)
}

// transitions returns the states that may follow a state without an error.
func transitions(s *asl.State) []string {
	var next []string
	add := func(name string) {
		if name != "" && !slices.Contains(next, name) {
			next = append(next, name)
		}
	}
	add(s.Next)
	for i := range s.Choices {
		add(s.Choices[i].Next)
	}
	add(s.Default)
	return next
}

// note records the states, transitions and catchers that an execution covered.
func note(seen map[string]bool, m *asl.Machine, events []history.Event) {
	t := timeline.Read(events)
	for i := range events {
		e := &events[i]
		if !e.Type.Entered() {
			continue
		}
		seen["state "+e.Name] = true
		if e.Previous < 1 || e.Previous > int64(len(events)) {
			continue
		}
		before := &events[e.Previous-1]
		if !before.Type.Exited() {
			continue
		}
		if v := t.Of(before.ID); v != nil && v.Outcome == timeline.Caught {
			if c := catcher(timeline.State(m, before.Name), v, e.Name); c != "" {
				seen["catcher "+c] = true
			}
			continue
		}
		seen["transition "+before.Name+" → "+e.Name] = true
	}
	for _, v := range t.Visits {
		s := timeline.State(m, v.State)
		if s == nil {
			continue
		}
		for i := range v.Attempts {
			if i+1 == len(v.Attempts) || !v.Attempts[i].Failure.HasName() {
				continue // was not retried
			}
			if k, ok := timeline.Retrier(s.Retry, v.Attempts[i].Failure.Name); ok {
				seen[fmt.Sprintf("retrier %s Retry[%d]", s.Name, k)] = true
			}
		}
	}
}

// catcher returns the name of the catcher that moved a state on to next: the first one that handles the last error.
func catcher(s *asl.State, v *timeline.Visit, next string) string {
	if s == nil {
		return ""
	}
	failed := ""
	if n := len(v.Attempts); n > 0 {
		failed = v.Attempts[n-1].Failure.Name
	}
	for i := range s.Catch {
		c := &s.Catch[i]
		if c.Next != next {
			continue
		}
		handles := failed == "" || slices.Contains(c.ErrorEquals, failed) || slices.Contains(c.ErrorEquals, "States.ALL") ||
			slices.Contains(c.ErrorEquals, "States.TaskFailed")
		if handles {
			return fmt.Sprintf("%s Catch[%d] → %s", s.Name, i, c.Next)
		}
	}
	return ""
}
