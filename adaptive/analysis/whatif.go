package analysis

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"stepback/retry"
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

// replay is one state's replay.
type replay struct {
	c                   *Collector
	retry               []retrypatterns.Retrier
	rnd                 *rand.Rand
	recorded, low, high Outcome
	diverging, unknown  int
	made, unsupported   float64
	beyond              float64
	varLow, varHigh     float64 // variance of the number of successes
}

// task replays one task: it follows the record as long as both Retry blocks behave the same.
func (r *replay) task(t *Task) {
	r.recorded.add(recordedOutcome(t))
	now, known := r.c.Retriers(t)
	before, other := newCounters(now), newCounters(r.retry)
	for i := range t.Attempts {
		a := &t.Attempts[i]
		if !a.failed() {
			break // it succeeded, or had not ended: both blocks end here
		}
		last := i == len(t.Attempts)-1
		if last && t.Ending == Cut {
			break
		}
		next, again := other.failed(a.Error)
		was, wasAgain := before.failed(a.Error)
		switch {
		case !again: // stops here, whatever followed in the record
			o := prefix(t, i+1, GivenUp)
			r.low.add(o)
			r.high.add(o)
			return
		case !last && known && wasAgain && was == next:
			continue
		}
		if !known {
			r.unknown++
		}
		r.diverge(t, i, other, next)
		return
	}
	o := recordedOutcome(t)
	r.low.add(o)
	r.high.add(o)
}

// wait is the distribution of one retry's delay, given by a policy and the retry's number.
type wait struct {
	policy retry.Policy
	retry  int
}

// counters holds a Retry array, and how many retries of each retrier one task has used.
type counters struct {
	retry []retrypatterns.Retrier
	used  []int
}

func newCounters(retry []retrypatterns.Retrier) *counters {
	return &counters{retry, make([]int, len(retry))}
}

// failed counts a failure, and returns the wait before the next attempt; false if there is no further attempt.
func (c *counters) failed(name string) (wait, bool) {
	i := match(c.retry, name)
	if i < 0 || c.used[i] >= c.retry[i].MaxAttempts {
		return wait{}, false
	}
	c.used[i]++
	p := c.retry[i].Policy()
	p.MaxAttempts = 0 // a wait does not depend on the maximum number of retries
	return wait{p, c.used[i]}, true
}

func (c *counters) clone() *counters { return &counters{c.retry, slices.Clone(c.used)} }

// draws is the number of times the rest of a diverging task is simulated.
const draws = 20

// diverge simulates the rest of a task after its failed attempt i, once with optimistic and once with pessimistic
// assumptions.
func (r *replay) diverge(t *Task, i int, other *counters, next wait) {
	r.diverging++
	begin := prefix(t, i+1, Cut)
	begin.Censored = 0
	for _, worst := range []bool{false, true} {
		to, variance := &r.high, &r.varHigh
		if worst {
			to, variance = &r.low, &r.varLow
		}
		never := worst && r.neverSucceeds(t)
		succeeded := 0.0
		for range draws {
			o := r.simulate(t, i, other.clone(), next, worst, never)
			o.Calls += begin.Calls
			o.WaitedSeconds += begin.WaitedSeconds
			succeeded += o.Succeeded
			to.addShare(o, 1.0/draws)
		}
		p := succeeded / draws
		*variance += p * (1 - p)
	}
}

// neverSucceeds reports whether an item may be one that never succeeds: it never succeeded, all its attempts failed
// with the same error, and at least two of them (or its only attempt) failed at times at which most attempts
// succeeded.
func (r *replay) neverSucceeds(t *Task) bool {
	if t.Ending == Done {
		return false
	}
	alone, name := 0, ""
	for i := range t.Attempts {
		a := &t.Attempts[i]
		if !a.failed() || name != "" && a.Error != name {
			return false
		}
		name = a.Error
		if near := r.c.callee(t.Callee).neighbourhood(a.Start.Unix()); near.succeeded*2 > near.calls {
			alone++
		}
	}
	return alone >= 2 || alone == 1 && len(t.Attempts) == 1
}

// simulate simulates how a task might continue after attempt i.
func (r *replay) simulate(t *Task, i int, counters *counters, next wait, worst, never bool) Outcome {
	var o Outcome
	x := r.c.callee(t.Callee)
	now, before := t.Attempts[i].End, failures{}
	for j := range i + 1 {
		before = before.then(t.Attempts[j].Error)
	}
	previous := time.Duration(0)
	if i > 0 {
		previous = t.Attempts[i].Start.Sub(t.Attempts[i-1].End)
	}
	number := i + 2
	const most = 10_000 // a bound for Retry blocks that practically never end
	for range most {
		d := next.policy.DelayAfter(next.retry, previous, r.rnd)
		previous = d
		o.WaitedSeconds += d.Seconds()
		o.Calls++
		now = now.Add(d)
		near := x.neighbourhood(now.Unix())
		r.made++
		failing := never
		if !failing {
			failing = r.rnd.Float64() < x.failureRate(near, retryKey{number, before}, worst)
		}
		if near.calls == 0 {
			r.unsupported++
		}
		if number > x.observed(before) {
			r.beyond++
		}
		number++
		if !failing {
			o.Succeeded = 1
			return o
		}
		if !never {
			before = before.then(x.drawError(near, before, r.rnd))
		}
		now = now.Add(x.mean())
		var again bool
		if next, again = counters.failed(before.last); !again {
			break
		}
	}
	o.GivenUp = 1
	return o
}

// failureRate returns a bound of the failure probability of a retry around a time: the lower bound, or the upper bound
// if worst. It shifts the rate of all attempts around the time by what is known of retries with this number after such
// failures. Without attempts around the time it returns 0, or 1 if worst. For a number above all those on record, it
// returns the rate of the highest one on record, or 1 if worst.
func (x *callee) failureRate(near second, k retryKey, worst bool) float64 {
	observed := x.observed(k.failures)
	switch {
	case worst && (near.calls == 0 || k.number > observed):
		return 1
	case near.calls == 0:
		return 0
	case observed == 0: // no retry on record followed such failures
		return 1 - chance(logOdds(near))
	}
	k.number = min(k.number, observed)
	e := x.effectOf(k)
	if worst {
		return 1 - chance(logOdds(near)+e.low)
	}
	return 1 - chance(logOdds(near)+e.high)
}

// drawError draws the error of a failed retry: by how often the retries on record after such failures failed with each,
// or else by the errors around the time. Without any, it returns the last error.
func (x *callee) drawError(near second, before failures, rnd *rand.Rand) string {
	errors := x.retries.next[before]
	if len(errors) == 0 {
		errors = near.errors
	}
	total := 0
	names := make([]string, 0, len(errors))
	for name, n := range errors {
		total += n
		names = append(names, name)
	}
	if total == 0 {
		return before.last
	}
	slices.Sort(names)
	at := rnd.IntN(total)
	for _, name := range names {
		if at -= errors[name]; at < 0 {
			return name
		}
	}
	return before.last
}

// widen widens the bracket by two standard deviations, because a single run of events varies by chance.
func (r *replay) widen() {
	shift := func(o *Outcome, by float64) {
		by = max(-o.Succeeded, min(by, o.GivenUp))
		o.Succeeded += by
		o.GivenUp -= by
	}
	shift(&r.low, -2*math.Sqrt(r.varLow))
	shift(&r.high, 2*math.Sqrt(r.varHigh))
	if r.low.Succeeded > r.high.Succeeded {
		r.low, r.high = r.high, r.low
	}
	// shares of tasks add up to whole numbers except for the last digits
	for _, o := range []*Outcome{&r.low, &r.high} {
		for _, f := range []*float64{&o.Succeeded, &o.GivenUp, &o.Censored, &o.Calls, &o.WaitedSeconds} {
			*f = math.Round(*f*1e6) / 1e6
		}
	}
}

// prefix returns the outcome of a task that ends after its first n attempts.
func prefix(t *Task, n int, ending Ending) Outcome {
	o := Outcome{}
	for i := range n {
		if !deferred(t.Attempts[i].Error) {
			o.Calls++
		}
		if i > 0 {
			o.WaitedSeconds += t.Attempts[i].Start.Sub(t.Attempts[i-1].End).Seconds()
		}
	}
	switch ending {
	case Done:
		o.Succeeded = 1
	case GivenUp:
		o.GivenUp = 1
	case Cut:
		o.Censored = 1
	}
	return o
}

func recordedOutcome(t *Task) Outcome { return prefix(t, len(t.Attempts), cmp.Or(t.Ending, Cut)) }

func (o *Outcome) add(x Outcome) { o.addShare(x, 1) }

func (o *Outcome) addShare(x Outcome, share float64) {
	o.Succeeded += share * x.Succeeded
	o.GivenUp += share * x.GivenUp
	o.Censored += share * x.Censored
	o.Calls += share * x.Calls
	o.WaitedSeconds += share * x.WaitedSeconds
}
