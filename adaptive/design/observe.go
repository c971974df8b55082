package design

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"text/tabwriter"
	"time"

	"stepback/adaptive/analysis"
	"stepback/adaptive/controller/decide"
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

// Comparison compares recorded periods with a design's predictions.
type Comparison struct {
	// Other is the number of tasks that are left out, because they ran under a Retry block other than the design's.
	Other int `json:"other"`
	// Periods are the periods that the record covers wholly. For a Map they are its Map Runs.
	Periods []Period `json:"periods"`
	// Inside counts the values that lie in their intervals of 90 %, of all Values of periods that have a prediction.
	// Low and High are Wilson's 95 % interval of the coverage.
	Inside int     `json:"inside"`
	Values int     `json:"values"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	// Holds is false if the design's predictions no longer describe what happens. Reasons say why.
	Holds   bool     `json:"holds"`
	Reasons []string `json:"reasons"`
}

// Period is one recorded period.
type Period struct {
	From time.Time `json:"from"`
	// Condition is the condition with whose prediction it is compared; empty if the design foresaw nothing like it.
	Condition string `json:"condition"`
	// FaultSeconds is the time in which a fifth or more of the calls failed, or the longest time in which none
	// succeeded if that is longer.
	FaultSeconds float64 `json:"faultSeconds"`
	Outcome      Outcome `json:"outcome"`
	Tasks        int     `json:"tasks"`
	// Outside lists the metrics that lie outside of their intervals.
	Outside []string `json:"outside"`
}

// compares reports whether a metric of a period is compared with its prediction: if a history shows it as the
// laboratory defines it. Dead letters and end of a Map Run are compared only if it had as many items as the design
// assumed, within a twentieth.
func (d *Design) compares(metric string, p *Period) bool {
	asAssumed := d.Map != nil && math.Abs(float64(p.Tasks-d.Map.Items)) <= 0.05*float64(d.Map.Items)
	switch metric {
	case "saved", "p50", "p99", "callsPerRecord", "peakCalls":
		return true
	case "dead":
		return d.Map == nil || asAssumed
	case "finish":
		return asAssumed
	}
	return false
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

// Compare compares the periods of the record with the predictions. found is the record's collector, which knows the
// Retry blocks under which tasks ran: tasks under another one than the design's are left out. It returns an error if no
// period is left. fit is the callee as the same record shows it; nil if it could not be fitted.
func (o *Observer) Compare(found *analysis.Collector, fit *analysis.Fit) (*Comparison, error) {
	slices.SortFunc(o.tasks, func(a, b observed) int { return a.start.Compare(b.start) })
	c := &Comparison{Reasons: []string{}, Holds: true}
	var tasks []observed
	for _, x := range o.tasks {
		block, known := found.Retriers(&analysis.Task{State: o.d.State, Rules: x.rules})
		if known &&
			!slices.EqualFunc(
				retrying(block),
				o.block,
				func(a, b retrypatterns.Retrier) bool { return reflect.DeepEqual(a, b) },
			) {
			c.Other++
			continue
		}
		tasks = append(tasks, x)
	}
	c.Periods = o.periods(tasks)
	switch {
	case len(tasks) == 0 && c.Other > 0:
		return nil, fmt.Errorf(
			"all %d tasks of the state %s ran under a Retry block other than the design's; deploy the design first: "+
				"stepback retries design prints it as a diff of the definition",
			c.Other,
			o.d.State,
		)
	case len(c.Periods) == 0 && o.d.Map != nil:
		return nil, fmt.Errorf(
			"the record has %d tasks of the state %s and no Map Run that has ended; compare again when one has",
			len(tasks),
			o.d.State,
		)
	case len(c.Periods) == 0:
		return nil, fmt.Errorf(
			"the record has %d tasks of the state %s and covers no period of %s; compare again when more is "+
				"recorded",
			len(tasks),
			o.d.State,
			inWords(o.d.Period),
		)
	}
	for i := range c.Periods {
		p := &c.Periods[i]
		for _, x := range o.d.Result.Predictions {
			if x.Condition != p.Condition {
				continue
			}
			for _, m := range metrics {
				if !o.d.compares(m.name, p) {
					continue
				}
				c.Values++
				if x.Metrics[m.name].Contains(m.of(&p.Outcome)) {
					c.Inside++
				} else {
					p.Outside = append(p.Outside, m.name)
				}
			}
		}
	}
	share := decide.Share{Have: float64(c.Inside), Of: float64(c.Values)}
	c.Low, c.High = share.Interval()
	c.judge(o.d, fit)
	return c, nil
}

// judge decides whether the predictions hold.
func (c *Comparison) judge(d *Design, fit *analysis.Fit) {
	reason := func(format string, args ...any) {
		c.Holds = false
		c.Reasons = append(c.Reasons, fmt.Sprintf(format, args...))
	}
	// The metrics of one period depend on each other, so a period counts once: it fails if three or more are outside.
	bad, known := 0, 0
	for _, p := range c.Periods {
		if p.Condition == "" {
			continue
		}
		known++
		if len(p.Outside) >= 3 {
			bad++
		}
	}
	if tail(bad, known, 0.1) < 0.01 {
		reason("%d of %d periods have three metrics or more outside of their intervals", bad, known)
	}
	for _, p := range c.Periods {
		if p.Condition == "" {
			reason(
				"the period from %s had a fault of %s that the design did not foresee",
				p.From.UTC().Format(time.RFC3339),
				inWords(p.FaultSeconds),
			)
		}
	}
	if fit == nil {
		return
	}
	// The times are compared at the load of the record: a callee of few fast servers and one of many slow ones differ
	// only while few calls are in flight.
	seen := meanAmong(fit.Typical, rangeOf(fit.Mean), rangeOf(fit.Servers))
	if assumed := meanAmong(fit.Typical, d.Callee.Mean, d.Callee.Servers); seen.disjoint(assumed) {
		reason("a call takes %s s on average with %d in flight, and the design assumed %s s", seen, fit.Typical, assumed)
	}
	if seen := rangeOf(fit.Rate); d.Arrivals != nil && !fit.Closed && seen.disjoint(d.Arrivals.Rate) {
		reason("%s records/s arrive, and the design assumed %s", seen, d.Arrivals.Rate)
	}
}

// tail returns the probability of k or more of n at a probability of p each; 1 for k = 0.
func tail(k, n int, p float64) float64 {
	if k == 0 {
		return 1
	}
	sum, term := 0.0, math.Pow(1-p, float64(n))
	for i := range k {
		sum += term
		term *= float64(n-i) / float64(i+1) * p / (1 - p)
	}
	return max(0, 1-sum)
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

// conditionOf returns the condition whose fault is most like one that was visible for a time; empty if none is. A fault
// remains visible while its backlog is served, so the visible time may be up to twice as long, and a minute more.
func (d *Design) conditionOf(visible float64) string {
	if visible == 0 {
		return Calm
	}
	best, distance := "", math.Inf(1)
	for _, f := range d.Faults {
		if visible < f.For.Low/2-10 || visible > 2*f.For.High+60 {
			continue
		}
		if x := math.Abs(math.Log(visible / ((f.For.Low + f.For.High) / 2))); x < distance {
			best, distance = f.Name, x
		}
	}
	return best
}

// WriteText writes the comparison.
func (c *Comparison) WriteText(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(
		t,
		"period from\tcondition\ttasks\tsaved %\tp50 s\tp99 s\tcalls/record\tcalls/s at most\tdead letters\toutside of its interval\t\n",
	)
	for _, p := range c.Periods {
		outside := "–"
		if len(p.Outside) > 0 {
			outside = fmt.Sprint(p.Outside)
		}
		x := &p.Outcome
		fmt.Fprintf(
			t,
			"%s\t%s\t%d\t%.4g\t%.3g\t%.4g\t%.4g\t%.4g\t%.0f\t%s\t\n",
			p.From.UTC().Format(time.RFC3339),
			cmp.Or(
				p.Condition,
				"not foreseen",
			),
			p.Tasks,
			100*x.Saved,
			x.P50,
			x.P99,
			x.CallsPerRecord,
			x.PeakCalls,
			x.Dead,
			outside,
		)
	}
	_ = t.Flush() // the report's writers report their own errors
	if c.Other > 0 {
		fmt.Fprintf(w, "\n%d tasks ran under another Retry block and are left out", c.Other)
	}
	fmt.Fprintf(
		w,
		"\n%d of %d values lie in their 90 %% intervals (%.0f %%, 95 %% interval %.0f to %.0f %%)\n",
		c.Inside,
		c.Values,
		100*float64(c.Inside)/float64(max(c.Values, 1)),
		100*c.Low,
		100*c.High,
	)
	if c.Holds {
		fmt.Fprintln(w, "the design's predictions hold")
		return
	}
	fmt.Fprintln(w, "the design's predictions no longer hold:")
	for _, r := range c.Reasons {
		fmt.Fprintf(w, "  %s\n", r)
	}
}
