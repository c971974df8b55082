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
	"stepback/retrypatterns"
)

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
