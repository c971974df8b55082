package analysis

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"stepback/adaptive/worth"
)

// Options are the prices and parameters of an analysis. Start with [DefaultOptions].
type Options struct {
	// Region is the AWS region whose prices are used.
	Region string
	// MemoryMB is the memory of the called functions; 0 if tasks call no functions. Architecture is their
	// architecture.
	MemoryMB     int
	Architecture worth.Architecture
	// Value is the value in USD of a task that succeeds in the end.
	Value float64
	// DelayPerHour is the cost of one hour of delay of one task, and LoadPrice the cost of one call to a callee that
	// is overloaded, both in USD.
	DelayPerHour, LoadPrice float64
	// Spell is the time within which attempts on one callee are not independent. It ranges from a millisecond to a
	// day.
	Spell time.Duration
}

// DefaultOptions returns options for functions of 1,024 MB in us-east-1, a tenth of a cent for a success, and spells
// of five minutes.
func DefaultOptions() Options {
	return Options{Region: "us-east-1", MemoryMB: 1024, Architecture: worth.X86, Value: 0.001,
		Spell: 5 * time.Minute}
}

// Validate returns an error for each option that is out of its range, all joined.
func (o Options) Validate() error {
	var problems []error
	for _, f := range []struct {
		name string
		is   float64
	}{{"value", o.Value}, {"delay per hour", o.DelayPerHour}, {"load price", o.LoadPrice}} {
		if !(f.is >= 0) || math.IsInf(f.is, 0) {
			problems = append(problems, fmt.Errorf("the %s is %v; it must be USD, 0 or more", f.name, f.is))
		}
	}
	if o.MemoryMB < 0 || o.MemoryMB > 10_240 {
		problems = append(problems, fmt.Errorf("the memory is %d MB; it must be 0 to 10,240", o.MemoryMB))
	}
	if o.Spell < time.Millisecond || o.Spell > 24*time.Hour {
		problems = append(problems, fmt.Errorf("the spell is %s; it must be 1ms to 24h", o.Spell))
	}
	if o.Architecture != worth.X86 && o.Architecture != worth.Arm {
		problems = append(problems,
			fmt.Errorf("the architecture is %q; there are %s and %s", o.Architecture, worth.X86, worth.Arm))
	}
	if _, err := worth.PricesOf(o.Region); err != nil {
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// Report is the result of an analysis.
type Report struct {
	Read
	// From and To are the times of the first and the last attempt of the record.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	// Prices holds the prices of Region on Date, and the given Value, DelayPerHour and LoadPrice, in USD.
	Prices Prices `json:"prices"`
	// Classes groups the tasks by state and by the error with which they failed first, the largest class first.
	Classes []Class `json:"classes"`
	// Callees are the called services, sorted by name.
	Callees []Load `json:"callees"`
	// Recommendations holds one recommendation for each class, in the order of the classes.
	Recommendations []Recommendation `json:"recommendations"`
}

// Prices are the prices on which a report is based.
type Prices struct {
	Region       string             `json:"region"`
	Date         string             `json:"date"`
	MemoryMB     int                `json:"memoryMB"`
	Architecture worth.Architecture `json:"architecture"`
	Value        float64            `json:"value"`
	DelayPerHour float64            `json:"delayPerHour"`
	LoadPrice    float64            `json:"loadPrice"`
	SpellSeconds float64            `json:"spellSeconds"`
}

// Load is the load on one callee.
type Load struct {
	Callee string `json:"callee"`
	// Calls counts all calls, Retries those that were not first attempts.
	Calls   int `json:"calls"`
	Retries int `json:"retries"`
	// FailedSeconds is the total duration of failed attempts.
	FailedSeconds float64 `json:"failedSeconds"`
	// Overloaded is the share of ten-second bins in which a fifth or more of the calls failed by overload.
	Overloaded float64 `json:"overloaded"`
	// Feedback is the correlation between calls and failures by overload; above 0.3, retries may feed the overload.
	Feedback float64 `json:"feedback"`
}

// Class groups the tasks of one state that failed first with the same error.
type Class struct {
	State  string `json:"state"`
	Callee string `json:"callee"`
	Error  string `json:"error"`
	// Tasks counts the tasks that failed first with the error. Each has one ending: recovered, given up or censored.
	Tasks     int `json:"tasks"`
	Recovered int `json:"recovered"`
	GivenUp   int `json:"givenUp"`
	Censored  int `json:"censored"`
	// Changed counts tasks that later failed with a different (competing) error. Until then they count in this class.
	Changed int `json:"changed"`
	// Retries holds one entry per retry, the first retry first.
	Retries []Retry `json:"retries"`
	// Curve is the share that had recovered by a time after the first failure. Of the tasks that recover, half have
	// recovered by MedianSeconds and nine tenths by NinetySeconds.
	Curve         []CurvePoint `json:"curve,omitempty"`
	MedianSeconds float64      `json:"medianSeconds"`
	NinetySeconds float64      `json:"ninetySeconds"`
	// Extrapolated is the fitted success probability of one more retry than the record contains. No recommendation
	// relies on it alone.
	Extrapolated *float64 `json:"extrapolated,omitempty"`
	// WaitedSeconds is the time spent waiting for retries; USD is the cost of their transitions, or operations of
	// durable functions, and invocations.
	WaitedSeconds float64 `json:"waitedSeconds"`
	USD           float64 `json:"usd"`

	trials []trials
}

// Retry counts the n-th retries of a class. They belong to tasks that had failed n times, each time with the
// class's error.
type Retry struct {
	// Number is 1 for the first retry.
	Number int `json:"number"`
	// Started = Recovered + Again + Changed. It does not include Censored retries: they began as well, but their
	// end is unknown, or they were answered without a call.
	Started   int `json:"started"`
	Recovered int `json:"recovered"`
	Again     int `json:"again"`
	Changed   int `json:"changed"`
	Censored  int `json:"censored"`
	// Estimate is the success probability of this retry. All is the success probability of all retries up to and
	// including this one.
	Estimate
	All Estimate `json:"all"`
	// USD is the average cost of one such retry, including its delay and load; WaitSeconds is the mean wait before
	// it.
	USD         float64 `json:"usd"`
	WaitSeconds float64 `json:"waitSeconds"`
	// Verdict compares the retry's benefit (the interval of Estimate times the value) with its cost.
	Verdict Verdict `json:"verdict"`

	lasted, waited time.Duration
	saturated      int
}

// Verdict is the result of comparing a retry's benefit with its cost.
type Verdict string

// The verdicts on a retry.
const (
	// Pays: the lower bound of its success probability, times the value, is at least its cost. Loses: even the upper
	// bound is below its cost.
	Pays  Verdict = "pays"
	Loses Verdict = "loses"
	// Undecided: the interval is too wide for a verdict. TooLittle: fewer than [Sufficient] effective retries.
	Undecided Verdict = "undecided"
	TooLittle Verdict = "too-little-data"
)

// Analyze returns the report, or an error if the options are invalid.
func (c *Collector) Analyze(o Options) (*Report, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	prices, err := worth.PricesOf(o.Region)
	if err != nil {
		return nil, err
	}
	r := &Report{
		Read: c.read, From: c.from, To: c.to, Classes: []Class{}, Callees: []Load{},
		Recommendations: []Recommendation{},
		Prices: Prices{o.Region, prices.Date, o.MemoryMB, o.Architecture, o.Value, o.DelayPerHour, o.LoadPrice,
			o.Spell.Seconds()},
	}
	r.Callees = c.loads()
	for _, tasks := range c.classes() {
		class := c.class(tasks, o, prices)
		r.Classes = append(r.Classes, class)
		r.Recommendations = append(r.Recommendations, c.recommend(&class, o))
	}
	return r, nil
}

func (c *Collector) loads() []Load {
	out := make([]Load, 0, len(c.callees))
	for _, x := range c.callees {
		bins := len(x.points())
		out = append(out, Load{
			Callee: x.name, Calls: x.calls, Retries: x.calls - x.firsts, FailedSeconds: x.failedTime.Seconds(),
			Overloaded: float64(len(x.saturated())) / float64(max(bins, 1)), Feedback: x.feedback(),
		})
	}
	slices.SortFunc(out, func(a, b Load) int { return cmp.Compare(a.Callee, b.Callee) })
	return out
}

// classes groups the tasks by state, callee and first error, the largest class first.
func (c *Collector) classes() [][]*Task {
	type key struct{ state, callee, name string }
	by := map[key][]*Task{}
	for i := range c.tasks {
		t := &c.tasks[i]
		if first := t.Attempts[0].Error; first != "" {
			k := key{t.State, t.Callee, first}
			by[k] = append(by[k], t)
		}
	}
	keys := make([]key, 0, len(by))
	for k := range by {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(len(by[b]), len(by[a])), cmp.Compare(a.state, b.state),
			cmp.Compare(a.name, b.name), cmp.Compare(a.callee, b.callee))
	})
	out := make([][]*Task, len(keys))
	for i, k := range keys {
		out[i] = by[k]
	}
	return out
}

func (c *Collector) class(tasks []*Task, o Options, prices worth.Prices) Class {
	one := Class{State: tasks[0].State, Callee: tasks[0].Callee, Error: tasks[0].Attempts[0].Error, Tasks: len(tasks)}
	saturated := c.callee(one.Callee).saturated()
	times := make([]censored, 0, len(tasks))
	for _, t := range tasks {
		times = append(times, one.take(t, saturated, o.Spell))
	}
	one.Curve = timeCurve(times)
	one.MedianSeconds, one.NinetySeconds = timeOfShare(one.Curve, 0.5), timeOfShare(one.Curve, 0.9)
	together := trials{}
	for _, t := range one.trials {
		together.merge(t)
	}
	alike := math.NaN()
	if len(together) > 0 {
		alike = together.intraclusterCorrelation()
	}
	all := cumulative(one.trials)
	sums := make([]tally, len(one.Retries))
	for i := range one.Retries {
		r := &one.Retries[i]
		r.Estimate, r.All, sums[i] = one.trials[i].estimate(alike), all[i], one.trials[i].sum()
		one.price(r, o, prices, tasks[0].Step)
	}
	if chance, ok := betaGeometric(sums); ok {
		p := chance(len(sums) + 1)
		one.Extrapolated = &p
	}
	return one
}

// take counts one task, and returns the interval in which it recovered.
func (c *Class) take(t *Task, saturated map[int64]bool, spell time.Duration) censored {
	begun := t.Attempts[0].End
	recovery := censored{high: math.Inf(1)}
	following := true
	for i := 1; i < len(t.Attempts); i++ {
		a := &t.Attempts[i]
		since := a.Start.Sub(begun).Seconds()
		switch {
		case deferred(a.Error):
		case a.failed():
			recovery.low = since
		case !a.End.IsZero():
			recovery.high = since
		}
		if !following {
			continue
		}
		following = c.follow(t, i, saturated, spell)
	}
	switch last := &t.Attempts[len(t.Attempts)-1]; {
	case t.Ending == Done:
		c.Recovered++
	case t.Ending == Cut || deferred(last.Error):
		c.Censored++
	default:
		c.GivenUp++
	}
	return recovery
}

// follow counts retry i of a task. It returns false if later retries of the task do not count in this class.
func (c *Class) follow(t *Task, i int, saturated map[int64]bool, spell time.Duration) bool {
	for len(c.Retries) < i {
		c.Retries = append(c.Retries, Retry{Number: len(c.Retries) + 1})
		c.trials = append(c.trials, trials{})
	}
	a, r := &t.Attempts[i], &c.Retries[i-1]
	wait := a.Start.Sub(t.Attempts[i-1].End)
	c.WaitedSeconds += wait.Seconds()
	if a.End.IsZero() || deferred(a.Error) && !deferred(c.Error) {
		r.Censored++
		return false
	}
	r.Started++
	r.lasted += a.lasted()
	r.waited += wait
	if saturated[a.Start.Unix()-a.Start.Unix()%bin] {
		r.saturated++
	}
	c.trials[i-1].add(clusterOf(t.Callee, a, spell), !a.failed())
	switch {
	case !a.failed():
		r.Recovered++
	case a.Error == c.Error:
		r.Again++
		return true
	default:
		r.Changed++
		c.Changed++
	}
	return false
}

// price computes a retry's cost and its verdict. step is true for a step of a durable function.
func (c *Class) price(r *Retry, o Options, prices worth.Prices, step bool) {
	r.Verdict = TooLittle
	if r.Started == 0 {
		return
	}
	n := time.Duration(r.Started)
	cost := prices.Cost(worth.Attempt{
		Step: step, MemoryMB: o.MemoryMB, Architecture: o.Architecture, Duration: r.lasted / n, Wait: r.waited / n,
		DelayPerHour: o.DelayPerHour, Load: o.LoadPrice * float64(r.saturated) / float64(r.Started),
	})
	r.USD, r.WaitSeconds = cost.Total(), (r.waited / n).Seconds()
	c.USD += float64(r.Started) * (cost.Total() - cost.Delay - cost.Load)
	if r.Sufficient() {
		r.Verdict = verdict(r.Estimate, o.Value, r.USD)
	}
}

func verdict(e Estimate, value, cost float64) Verdict {
	switch {
	case e.High*value < cost || e.High == 0:
		return Loses
	case e.Low*value >= cost:
		return Pays
	}
	return Undecided
}
