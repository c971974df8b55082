package analysis

import (
	"fmt"
	"math"
	"time"
)

// Recommendation is the recommended action for one class.
type Recommendation struct {
	State  string `json:"state"`
	Error  string `json:"error"`
	Action Action `json:"action"`
	// From is the present number of retries of the class, and To is the recommended one. Both are nil if the
	// present Retry block is unknown or no change is recommended.
	From *int `json:"from,omitempty"`
	To   *int `json:"to,omitempty"`
	// Evidence gives the reasons in sentences, with the counts.
	Evidence string `json:"evidence"`
}

// Action is a recommended action.
type Action string

// The actions.
const (
	CutRetries   Action = "cut"
	RaiseRetries Action = "raise"
	KeepRetries  Action = "keep"
	// WaitLonger: tasks still recover after all waits are over.
	WaitLonger Action = "wait-longer"
	// NoAction: there are too few data for a recommendation.
	NoAction Action = "too-little-data"
)

// recommend chooses the action for a class. It cuts retries only if they do not pay even at the upper bound of their
// recoveries. It adds retries only if the recorded ones beyond the current number pay even at the lower bound.
func (c *Collector) recommend(one *Class, o Options) Recommendation {
	rec := Recommendation{State: one.State, Error: one.Error, Action: NoAction}
	now, known := c.retriesNow(one.State, one.Error)
	if known {
		rec.From = &now
	}
	if len(one.Retries) == 0 {
		rec.Evidence = fmt.Sprintf("no retry of %s was made", tasks(one.Tasks))
		return rec
	}
	if m, evidence, ok := one.cut(o); ok && (!known || m < now) {
		rec.Action, rec.To, rec.Evidence = CutRetries, &m, evidence
		return rec
	}
	if known {
		if m, evidence, ok := one.raise(now, o); ok {
			rec.Action, rec.To, rec.Evidence = RaiseRetries, &m, evidence
			return rec
		}
	}
	first := &one.Retries[0]
	if !first.Sufficient() {
		rec.Evidence = fmt.Sprintf("too little data: %s of the first retry, in %s, count as %.1f independent "+
			"ones; %d are needed", counted(first), spells(first.Clusters, o.Spell), first.Effective, Sufficient)
		return rec
	}
	rec.Action = KeepRetries
	last := one.lastSufficient()
	rec.Evidence = fmt.Sprintf("retry %d recovered %s, %s", last.Number, counted(last), bounds(last.Estimate))
	if waits, ok := c.waitsNow(one.State, one.Error); ok && one.late(waits) {
		rec.Action = WaitLonger
		rec.Evidence = fmt.Sprintf("a tenth of the recoveries takes longer than %s after the first failure, and %s "+
			"were given up; the waits add up to %s on average: a longer interval reaches more than more retries",
			seconds(one.NinetySeconds), tasks(one.GivenUp), waits.Round(time.Millisecond))
		return rec
	}
	if one.GivenUp > 0 && one.Extrapolated != nil && last.Number == len(one.Retries) &&
		*one.Extrapolated*o.Value >= last.USD {
		rec.Evidence += fmt.Sprintf("; one more would recover about %.0f %% by extrapolation, which nothing is "+
			"recommended on: try it, or ask retries whatif", 100**one.Extrapolated)
	}
	return rec
}

// cut returns the smallest number m of retries such that the retries after m lose: all of them together, and each
// one that has sufficient data. ok is false if there is no such m.
func (c *Class) cut(o Options) (m int, evidence string, ok bool) {
	for m = range len(c.Retries) {
		tail, started, cost := trials{}, 0, 0.0
		for i := m; i < len(c.Retries); i++ {
			tail.merge(c.trials[i])
			started += c.Retries[i].Started
			cost += float64(c.Retries[i].Started) * c.Retries[i].USD
			if r := &c.Retries[i]; r.Sufficient() && r.Verdict != Loses {
				started = 0
				break
			}
		}
		if started == 0 {
			continue
		}
		e := tail.estimate(c.alike())
		if cost /= float64(started); e.Sufficient() && verdict(e, o.Value, cost) == Loses {
			which := fmt.Sprintf("retries %d to %d", m+1, len(c.Retries))
			if m+1 == len(c.Retries) {
				which = fmt.Sprintf("retry %d", m+1)
			}
			return m, fmt.Sprintf("%s recovered %.0f of %d, upper bound %.1f %%: worth at most $%.3g each, and each costs "+
				"$%.3g", which, tail.sum().recovered, started, 100*e.High, e.High*o.Value, cost), true
		}
	}
	return 0, "", false
}

func (c *Class) alike() float64 {
	all := trials{}
	for _, t := range c.trials {
		all.merge(t)
	}
	if len(all) == 0 {
		return math.NaN()
	}
	return all.intraclusterCorrelation()
}

// raise returns the highest number of retries, beyond the present number, that pays according to the record.
func (c *Class) raise(now int, o Options) (m int, evidence string, ok bool) {
	for i := len(c.Retries) - 1; i >= now; i-- {
		if r := &c.Retries[i]; r.Verdict == Pays {
			return r.Number, fmt.Sprintf("retry %d, which earlier executions made, recovered %s, lower bound %.1f %%: "+
				"worth at least $%.3g, and it costs $%.3g", r.Number, counted(r), 100*r.Low, r.Low*o.Value, r.USD), true
		}
	}
	return 0, "", false
}

// lastSufficient returns the last retry with sufficient data, or the first retry if there is none.
func (c *Class) lastSufficient() *Retry {
	last := &c.Retries[0]
	for i := range c.Retries {
		if c.Retries[i].Sufficient() {
			last = &c.Retries[i]
		}
	}
	return last
}

// late reports whether a relevant share of tasks is given up although tasks still recover after all waits are over.
func (c *Class) late(waits time.Duration) bool {
	return c.GivenUp*20 >= c.Tasks && c.Recovered > 0 && c.NinetySeconds > waits.Seconds()
}

// retriesNow returns how many retries the present Retry block allows for an error; false if it is unknown.
func (c *Collector) retriesNow(state, name string) (int, bool) {
	retry, ok := c.currentRetry(state)
	if !ok {
		return 0, false
	}
	i := match(retry, name)
	if i < 0 {
		return 0, true
	}
	return retry[i].MaxAttempts, true
}

// waitsNow returns the mean total of the waits for an error under the present Retry block; false if it is unknown.
func (c *Collector) waitsNow(state, name string) (time.Duration, bool) {
	retry, ok := c.currentRetry(state)
	i := -1
	if ok {
		i = match(retry, name)
	}
	if i < 0 {
		return 0, false
	}
	return retry[i].Policy().Schedule().Total.Mean, true
}

func counted(r *Retry) string { return fmt.Sprintf("%d of %d", r.Recovered, r.Started) }

func bounds(e Estimate) string { return fmt.Sprintf("%.1f to %.1f %%", 100*e.Low, 100*e.High) }

func tasks(n int) string {
	if n == 1 {
		return "1 task"
	}
	return fmt.Sprintf("%d tasks", n)
}

func spells(n int, each time.Duration) string {
	if n == 1 {
		return fmt.Sprintf("one spell of %s", each)
	}
	return fmt.Sprintf("%d spells of %s", n, each)
}

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(100 * time.Millisecond)
}
