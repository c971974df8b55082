package graph

import (
	"fmt"

	"stepback/engine/timeline"
)

// Marks records what an execution did, to be drawn on its machine.
type Marks struct {
	// States holds the states that were entered.
	States map[string]*Mark
	taken  map[step]bool
}

type step struct {
	from, to string
	catch    bool
}

// Mark summarizes what happened in one state, over all visits.
type Mark struct {
	Visits, Attempts, Failures int
	// Outcome is the outcome of the visit that needs most attention. Waiting for a retry ranks first, then running,
	// failed, caught, aborted and succeeded. Of several such visits, the last one counts.
	Outcome timeline.Outcome
	weight  int
}

// Text describes the mark in a few words: "3 attempts", "12 visits, 2 failed".
func (m *Mark) Text() string {
	switch {
	case m.Visits > 1 && m.Failures > 0:
		return fmt.Sprintf("%d×, %d failed", m.Visits, m.Failures)
	case m.Visits > 1:
		return fmt.Sprintf("%d×", m.Visits)
	case m.Attempts > 1:
		return fmt.Sprintf("%d attempts", m.Attempts)
	}
	return ""
}

var weights = map[timeline.Outcome]int{timeline.Succeeded: 1, timeline.Aborted: 2, timeline.Caught: 3,
	timeline.Failed: 4, timeline.TimedOut: 4, timeline.Running: 5, timeline.Waiting: 6}

// MarksOf returns the marks of an execution.
func MarksOf(t *timeline.Timeline) *Marks {
	m := &Marks{States: map[string]*Mark{}, taken: map[step]bool{}}
	type track struct {
		parent *timeline.Visit
		index  int64
	}
	before := map[track]*timeline.Visit{}
	for _, v := range t.Visits {
		s := m.States[v.State]
		if s == nil {
			s = &Mark{}
			m.States[v.State] = s
		}
		s.Visits++
		s.Attempts += len(v.Attempts)
		for i := range v.Attempts {
			if v.Attempts[i].Outcome.Bad() {
				s.Failures++
			}
		}
		if w := weights[v.Outcome]; w >= s.weight {
			s.Outcome, s.weight = v.Outcome, w
		}
		on := track{v.Parent, v.Index}
		if b := before[on]; b != nil {
			m.taken[step{b.State, v.State, b.Outcome == timeline.Caught}] = true
		} else if v.Parent == nil {
			m.taken[step{startName, v.State, false}] = true
		}
		before[on] = v
	}
	if last := before[track{nil, -1}]; last != nil && t.Status == "SUCCEEDED" {
		m.taken[step{last.State, endName, false}] = true
	}
	return m
}

// mark returns the mark of a state; nil if it was not entered or there are no marks.
func (m *Marks) mark(state string) *Mark {
	if m == nil {
		return nil
	}
	return m.States[state]
}

// took reports whether the execution followed an edge of its machine.
func (m *Marks) took(e *Edge) bool {
	return m != nil && m.taken[step{e.From, e.To, e.Kind == Catch}]
}
