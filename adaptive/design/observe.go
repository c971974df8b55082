package design

import (
	"math"
	"slices"
	"time"

	"stepback/adaptive/analysis"
	"stepback/retry"
	"stepback/retrypatterns"
)

// Observer sorts the recorded tasks of a design's state into periods. Create one with [Design.Observe], and pass every
// task to Add.
type Observer struct {
	d     *Design
	tasks []observed
	block []retrypatterns.Retrier // the design's, without those that never retry
}

// observed holds the times and the ending of a task.
type observed struct {
	rules    string // see analysis.Task
	run      string
	start    time.Time
	end      time.Time // of the last attempt
	took     float32   // seconds until it succeeded; negative if it did not
	dead     bool
	cut      bool
	failures []time.Time
	calls    []time.Time // their starts
}

// Observe returns an observer for what happens under the design.
func (d *Design) Observe() *Observer {
	return &Observer{d: d, block: retrying(d.RetryBlock(&d.Result.Settings))}
}

// retrying returns the retriers that retry.
func retrying(all []retrypatterns.Retrier) []retrypatterns.Retrier {
	return slices.DeleteFunc(slices.Clone(all), func(r retrypatterns.Retrier) bool { return r.MaxAttempts == 0 })
}

// Add adds a task. Tasks of other states are ignored.
func (o *Observer) Add(t *analysis.Task) {
	if t.State != o.d.State || len(t.Attempts) == 0 {
		return
	}
	x := observed{
		rules: t.Rules,
		run:   t.MapRun,
		start: t.Attempts[0].Start,
		took:  -1,
		dead:  t.Ending == analysis.GivenUp,
		cut:   t.Ending == analysis.Cut,
	}
	for i := range t.Attempts {
		a := &t.Attempts[i]
		switch a.Error {
		case retry.CircuitOpen, retry.RetryBudgetExhausted, retry.LimitReached, retry.RetryNotWorthwhile:
			continue
		case "":
			if !a.End.IsZero() {
				x.took = float32(a.End.Sub(x.start).Seconds())
			}
		default:
			x.failures = append(x.failures, a.Start)
		}
		x.calls = append(x.calls, a.Start)
	}
	x.end = t.Attempts[len(t.Attempts)-1].End
	o.tasks = append(o.tasks, x)
}

// periods cuts the tasks, which are sorted by start, into periods: Map Runs if the design is one of a Map.
func (o *Observer) periods(tasks []observed) []Period {
	all := []Period{}
	add := func(of []observed, from time.Time, length time.Duration) {
		if p, ok := o.period(of, from, length); ok {
			all = append(all, p)
		}
	}
	if o.d.Map == nil {
		if n := len(tasks); n > 0 {
			length := seconds(o.d.Period)
			last := tasks[n-1].start
			for from := tasks[0].start; !from.Add(length).After(last.Add(length / 20)); from = from.Add(length) {
				add(tasks, from, length)
			}
		}
		return all
	}
	runs := map[string][]observed{}
	for _, x := range tasks {
		if x.run != "" {
			runs[x.run] = append(runs[x.run], x)
		}
	}
	for _, of := range runs {
		from, last := of[0].start, of[0].start
		for _, x := range of {
			if x.end.After(last) {
				last = x.end
			}
		}
		add(of, from, last.Sub(from)+1)
	}
	slices.SortFunc(all, func(a, b Period) int { return a.From.Compare(b.From) })
	return all
}

// period computes the outcome of a period of tasks. ok is false if a twentieth of its tasks or more were cut, so that
// their ends are not known, or if it has no task.
func (o *Observer) period(tasks []observed, from time.Time, length time.Duration) (p Period, ok bool) {
	const bin = 10
	to := from.Add(length)
	p = Period{From: from, Outside: []string{}}
	var took []float64
	var calls, cut, saved int
	type count struct{ calls, failed int }
	bins := make([]count, int(length/time.Second)/bin+1)
	for i := range tasks {
		x := &tasks[i]
		for _, at := range x.calls {
			if !at.Before(from) && at.Before(to) {
				bins[int(at.Sub(from).Seconds())/bin].calls++
			}
		}
		for _, at := range x.failures {
			if !at.Before(from) && at.Before(to) {
				bins[int(at.Sub(from).Seconds())/bin].failed++
			}
		}
		if x.start.Before(from) || !x.start.Before(to) {
			continue
		}
		p.Tasks++
		calls += len(x.calls)
		switch {
		case x.took >= 0:
			took = append(took, float64(x.took))
			if float64(x.took) <= o.d.Objective.Within {
				saved++
			}
		case x.cut:
			cut++
		case x.dead:
			p.Outcome.Dead++
		}
	}
	if p.Tasks == 0 || 20*cut >= p.Tasks {
		return p, false
	}
	slices.Sort(took)
	p.Outcome.Saved = float64(saved) / float64(p.Tasks)
	p.Outcome.CallsPerRecord = float64(calls) / float64(p.Tasks)
	if n := len(took); n > 0 {
		p.Outcome.P50, p.Outcome.P99 = took[max(0, int(math.Ceil(0.5*float64(n)))-1)], took[max(0,
			int(math.Ceil(0.99*float64(n)))-1)]
	}
	first, last := -1, -1
	for i, b := range bins {
		p.Outcome.PeakCalls = max(p.Outcome.PeakCalls, float64(b.calls)/bin)
		if b.failed >= 3 && 5*b.failed >= b.calls {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first >= 0 {
		p.FaultSeconds = float64(last-first+1) * bin
	}
	p.FaultSeconds = max(p.FaultSeconds, longestSilence(tasks, from, to, bin*time.Second).Seconds())
	if o.d.Map != nil {
		p.Outcome.Finish = length.Seconds()
	}
	p.Condition = o.d.conditionOf(p.FaultSeconds)
	return p, true
}

// longestSilence returns the longest time within a period in which three calls or more failed and none succeeded; 0 if
// none lasted as long as atLeast. Through such a fault, tasks with long waits make hardly any calls.
func longestSilence(tasks []observed, from, to time.Time, atLeast time.Duration) time.Duration {
	type call struct {
		at     time.Time
		failed bool
	}
	var calls []call
	add := func(at time.Time, failed bool) {
		if !at.Before(from) && at.Before(to) {
			calls = append(calls, call{at, failed})
		}
	}
	for i := range tasks {
		x := &tasks[i]
		for _, at := range x.failures {
			add(at, true)
		}
		if x.took >= 0 {
			add(x.calls[len(x.calls)-1], false)
		}
	}
	slices.SortFunc(calls, func(a, b call) int { return a.at.Compare(b.at) })
	var longest time.Duration
	var first time.Time
	failed := 0
	for _, c := range calls {
		if c.failed && failed == 0 {
			first = c.at
		}
		if d := c.at.Sub(first); failed >= 3 && d >= atLeast {
			longest = max(longest, d)
		}
		if failed++; !c.failed {
			failed = 0
		}
	}
	return longest
}
