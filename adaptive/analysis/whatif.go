package analysis

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"stepback/retrypatterns"
)

// Level is the method by which a what-if answer was found.
type Level string

// The levels, from the most certain to the least certain.
const (
	// Exact: the other Retry block only stops earlier or excludes errors, so all that it would have met is recorded.
	Exact Level = "exact"
	// Bracketed: it waits differently or retries more often. What it would have met is bounded by what other tasks
	// met at the time.
	Bracketed Level = "bracketed"
	// Modelled: retries feed the overload that they meet, so a record cannot answer. There are no figures; run the
	// fitted scenario in the laboratory.
	Modelled Level = "modelled"
)

// The assumptions of the levels.
const (
	assumeNoInterference = "A1: the calls that the other Retry block adds or omits do not affect other calls: the callee's " +
		"load does not matter"
	assumeTimeDecides = "A2: the outcome of an attempt depends only on its time, its number, the error before it, and on " +
		"whether its item never succeeds"
	assumePoints = "A3: the callee is a queue with the servers, times and faults of the fitted scenario"
)

// WhatIf reports how the recorded tasks would have fared under another Retry block.
type WhatIf struct {
	Read
	From  time.Time `json:"from,omitzero"`
	To    time.Time `json:"to,omitzero"`
	Level Level     `json:"level"`
	// Assumptions are the assumptions of the answer; Reasons explain the choice of the level.
	Assumptions []string `json:"assumptions"`
	Reasons     []string `json:"reasons"`
	// States are the states whose Retry block differs, sorted by name.
	States []StateWhatIf `json:"states"`
}

// StateWhatIf is the result for one state under another Retry block.
type StateWhatIf struct {
	State  string `json:"state"`
	Callee string `json:"callee"`
	Level  Level  `json:"level"`
	// Tasks is the number of recorded tasks, and Recorded their outcome.
	Tasks    int     `json:"tasks"`
	Recorded Outcome `json:"recorded"`
	// Low and High bound the outcome under the other Retry block. They are equal at the exact level, and nil at the
	// modelled level.
	Low  *Outcome `json:"low,omitempty"`
	High *Outcome `json:"high,omitempty"`
	// Diverging is the number of tasks that would have gone differently. Unsupported is the share of their attempts
	// that fall at times for which the record has no attempts.
	Diverging   int     `json:"diverging"`
	Unsupported float64 `json:"unsupported"`
	// Beyond is the share of their attempts whose number is above all those on record after such errors. The lower
	// bound assumes that these fail, the upper bound that they fare as the last recorded ones.
	Beyond float64 `json:"beyondObserved"`
	// Feedback is the correlation between calls and failures by overload.
	Feedback float64 `json:"feedback"`
	// Scenario is the fitted scenario for the laboratory, at the modelled level.
	Scenario string `json:"scenario,omitempty"`
}

// Outcome is the outcome of a state's tasks.
type Outcome struct {
	// Succeeded, GivenUp and Censored are numbers of tasks; expected numbers if they are not recorded.
	Succeeded float64 `json:"succeeded"`
	GivenUp   float64 `json:"givenUp"`
	Censored  float64 `json:"censored"`
	// Calls is the number of calls to the callee, WaitedSeconds the time spent waiting for retries.
	Calls         float64 `json:"calls"`
	WaitedSeconds float64 `json:"waitedSeconds"`
}

// WhatIf replays the record under the Retry arrays in other, by state. States that other does not name keep their
// own. It returns an error if the record has no task of any named state.
func (c *Collector) WhatIf(other map[string][]retrypatterns.Retrier) (*WhatIf, error) {
	w := &WhatIf{Read: c.read, From: c.from, To: c.to, Level: Exact, Assumptions: []string{assumeNoInterference}}
	names := make([]string, 0, len(other))
	for name := range other {
		if c.states[name] != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		return nil, fmt.Errorf("no task of the policy's states is on record; there are tasks of %s",
			quoted(c.stateNames()))
	}
	for _, name := range names {
		s, reason := c.replayState(name, other[name])
		w.States = append(w.States, s)
		w.Reasons = append(w.Reasons, reason)
		w.Level = worse(w.Level, s.Level)
	}
	switch w.Level {
	case Bracketed:
		w.Assumptions = append(w.Assumptions, assumeTimeDecides)
	case Modelled:
		w.Assumptions = []string{assumePoints}
	case Exact:
	}
	return w, nil
}

func (c *Collector) stateNames() []string {
	names := make([]string, 0, len(c.states))
	for name := range c.states {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func quoted(names []string) string {
	if len(names) == 0 {
		return "no state"
	}
	return fmt.Sprintf("%q", names)
}

func worse(a, b Level) Level {
	order := []Level{Exact, Bracketed, Modelled}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}

// replayState replays the tasks of one state.
func (c *Collector) replayState(name string, retry []retrypatterns.Retrier) (StateWhatIf, string) {
	count := c.states[name]
	s := StateWhatIf{State: name, Callee: count.callee, Level: Exact, Tasks: count.tasks}
	s.Feedback = c.callee(count.callee).feedback()
	r := &replay{c: c, retry: retry, rnd: rand.New(rand.NewPCG(1, 2))}
	failed := 0
	for i := range c.tasks {
		if t := &c.tasks[i]; t.State == name {
			failed++
			r.task(t)
		}
	}
	// The other tasks succeeded at once and would do so again.
	smooth := float64(count.tasks - failed)
	smoothDone := float64(count.done - int(r.recorded.Succeeded))
	for _, o := range []*Outcome{&r.recorded, &r.low, &r.high} {
		o.Succeeded += smoothDone
		o.Censored += smooth - smoothDone
		o.Calls += smooth
	}
	s.Recorded, s.Diverging = r.recorded, r.diverging
	if r.made > 0 {
		s.Unsupported, s.Beyond = r.unsupported/r.made, r.beyond/r.made
	}
	switch {
	case s.Feedback > feedbackFrom:
		s.Level = Modelled
		s.Scenario = c.fit(name)
		return s, fmt.Sprintf("%s: failures by overload go along with the number of calls (r = %.2f, above %.1f), so "+
			"that other retries meet other failures; run the fitted scenario in the laboratory", name, s.Feedback,
			feedbackFrom)
	case r.diverging > 0:
		s.Level = Bracketed
	}
	r.widen()
	s.Low, s.High = &r.low, &r.high
	if s.Level == Exact {
		return s, name + ": the other Retry block only stops earlier or excludes errors, so every attempt that it makes is on record"
	}
	reason := fmt.Sprintf("%s: %d of %s would have been retried at other times or more often", name, r.diverging,
		tasks(s.Tasks))
	if r.beyond > 0 {
		reason += fmt.Sprintf("; %.1f %% of their attempts are later retries of an error than any on record, which the lower "+
			"bound assumes to fail", 100*s.Beyond)
	}
	if r.unknown > 0 {
		reason += fmt.Sprintf("; the Retry block of %d executions is not known", r.unknown)
	}
	return s, reason
}

// draws is the number of times the rest of a diverging task is simulated.
const draws = 20

func (o *Outcome) add(x Outcome) { o.addShare(x, 1) }

func (o *Outcome) addShare(x Outcome, share float64) {
	o.Succeeded += share * x.Succeeded
	o.GivenUp += share * x.GivenUp
	o.Censored += share * x.Censored
	o.Calls += share * x.Calls
	o.WaitedSeconds += share * x.WaitedSeconds
}
