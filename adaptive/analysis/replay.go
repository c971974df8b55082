package analysis

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"stepback/retry"
	"stepback/retrypatterns"
)

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
