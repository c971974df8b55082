package design

import (
	"context"
	"fmt"
	"math"
	"slices"

	"stepback/adaptive/lab/simulation"
	"stepback/adaptive/limiter"
	"stepback/adaptive/worth"
	"stepback/internal/spelling"
)

// Design is a problem with its result. Result is nil before [Run].
type Design struct {
	// Version is [Version].
	Version int `json:"design"`
	Problem
	Result *Result `json:"result,omitempty"`
}

// Result is the result of a design.
type Result struct {
	// Feasible is true if Settings meet the objective. Otherwise they are the nearest that was found.
	Feasible bool     `json:"feasible"`
	Settings Settings `json:"settings"`
	// Because says why the objective cannot be met, by a bound that excludes it, or what the best settings that were
	// found miss. Nearest says which objective they meet instead. Both are empty if Feasible.
	Because string `json:"because,omitempty"`
	Nearest string `json:"nearest,omitempty"`
	// Predictions hold the predicted outcome of one period, for each condition.
	Predictions []Prediction `json:"predictions"`
	// Without says what each part of the settings brings.
	Without []Without `json:"without"`
	// Bounds are bounds by theory.
	Bounds []Bound `json:"bounds"`
	// Alarms and Redrive are derived from the predictions. Redrive is nil for a Map.
	Alarms  []Alarm  `json:"alarms"`
	Redrive *Redrive `json:"redrive,omitempty"`
	// Simulated is the number of simulated periods. Prices names the prices that apply.
	Simulated int    `json:"simulated"`
	Prices    string `json:"prices"`
}

// Prediction is the predicted outcome of one period.
type Prediction struct {
	// Condition is [Calm] or the name of a fault. Met is the share of the simulated periods that meet the objective.
	Condition string  `json:"condition"`
	Met       float64 `json:"met"`
	Periods   int     `json:"periods"`
	// Metrics holds the intervals by name.
	Metrics map[string]Interval `json:"metrics"`
}

// Interval contains the value of one further period with a probability of 90 %, if the problem describes the callee.
type Interval struct {
	Low    float64 `json:"low"`
	Median float64 `json:"median"`
	High   float64 `json:"high"`
}

// Contains reports whether a value lies in the interval. Ends count as inside, with a tolerance for rounding.
func (i Interval) Contains(x float64) bool {
	slack := 1e-9 * max(math.Abs(i.Low), math.Abs(i.High), 1)
	return x >= i.Low-slack && x <= i.High+slack
}

// Without is the outcome without one part of the settings, with the same random numbers.
type Without struct {
	What string `json:"what"`
	// Condition is the condition that suffers most. Saved, USDPerThousand and P99 are medians with (From) and without
	// (To) the part.
	Condition      string     `json:"condition"`
	Saved          [2]float64 `json:"saved"`
	USDPerThousand [2]float64 `json:"usdPerThousand"`
	P99            [2]float64 `json:"p99"`
	// Met is the share of the periods that meet the objective without the part.
	Met float64 `json:"met"`
}

// Alarm is a threshold beyond which a period is not as predicted.
type Alarm struct {
	// Metric is a metric of package retrymetrics or of an outcome; it alarms above Threshold in Periods consecutive
	// periods of Seconds.
	Metric    string  `json:"metric"`
	Threshold float64 `json:"threshold"`
	Seconds   float64 `json:"seconds"`
	Periods   int     `json:"periods"`
	Text      string  `json:"text"`
}

// Redrive is the plan for the records that a fault leaves behind.
type Redrive struct {
	// Records is the number of dead letters of the worst predicted period. PerSecond is the pace at which they can be
	// redriven, and Seconds how long that takes. PerSecond is 0 if the callee has no spare capacity.
	Records   float64 `json:"records"`
	PerSecond float64 `json:"perSecond"`
	Seconds   float64 `json:"seconds"`
}

// Options are the options of [Run].
type Options struct {
	// Workers is the number of concurrent simulations; the default is one per processor. It does not affect the result.
	Workers int
}

// withoutSeeds is the number of seeds with which parts are removed for the explanation.
const withoutSeeds = 20

// Run solves the problem and sets Result. The error is the problem's, or the context's.
func (d *Design) Run(ctx context.Context, o Options) error {
	p := &d.Problem
	if err := p.Validate(); err != nil {
		return err
	}
	bounds, err := p.bounds()
	if err != nil {
		return err
	}
	e := newEvaluator(p, o.Workers)
	settings, found, err := e.search(ctx, slices.ContainsFunc(bounds, func(b Bound) bool { return b.Excludes }))
	if err != nil {
		return err
	}
	r := &Result{Feasible: found, Settings: settings, Bounds: bounds}
	if r.Predictions, err = e.predict(ctx, &settings); err != nil {
		return err
	}
	if found {
		if r.Without, err = e.without(ctx, settings); err != nil {
			return err
		}
	} else {
		r.Because, r.Nearest = p.because(r, len(e.known)), p.nearest(r)
	}
	r.Alarms, r.Redrive = p.alarms(r), p.redrive(r)
	r.Simulated = len(e.known)
	prices, err := worth.PricesOf(simulation.PriceRegion)
	if err != nil {
		return err
	}
	r.Prices = prices.Region + ", " + prices.Date
	d.Version, d.Result = Version, r
	return nil
}

// predict predicts the outcome of a period in every condition.
func (e *evaluator) predict(ctx context.Context, s *Settings) ([]Prediction, error) {
	var all []Prediction
	for k, name := range e.p.conditions() {
		out, err := e.outcomes(ctx, s, k, e.p.Seed+predictedFrom, checkedSeeds)
		if err != nil {
			return nil, err
		}
		p := Prediction{Condition: name, Periods: len(out), Metrics: map[string]Interval{}}
		met := 0
		for i := range out {
			if e.p.Objective.Met(out[i]) {
				met++
			}
		}
		p.Met = float64(met) / float64(len(out))
		for _, m := range metrics {
			values := make([]float64, len(out))
			for i := range out {
				values[i] = m.of(&out[i])
			}
			if m.name == "finish" && e.p.Map == nil {
				continue
			}
			p.Metrics[m.name] = intervalOf(values)
		}
		all = append(all, p)
	}
	return all, nil
}

// intervalOf returns the interval of a further value that is exchangeable with the given ones: between the order
// statistics whose ranks exclude a probability of 5 % on each side.
func intervalOf(values []float64) Interval {
	slices.Sort(values)
	n := len(values)
	outside := max(1, int(math.Round(0.05*float64(n+1))))
	return Interval{values[outside-1], values[n/2], values[n-outside]}
}

// median returns the median of a metric.
func median(out []Outcome, of func(*Outcome) float64) float64 {
	values := make([]float64, len(out))
	for i := range out {
		values[i] = of(&out[i])
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// without removes each part of the settings.
func (e *evaluator) without(ctx context.Context, s Settings) ([]Without, error) {
	all := []Without{}
	for _, r := range e.p.removals(s) {
		var worst Without
		for k, name := range e.p.conditions() {
			before, err := e.outcomes(ctx, &s, k, e.p.Seed, withoutSeeds)
			if err != nil {
				return nil, err
			}
			after, err := e.outcomes(ctx, &r.then, k, e.p.Seed, withoutSeeds)
			if err != nil {
				return nil, err
			}
			met := 0
			for i := range after {
				if e.p.Objective.Met(after[i]) {
					met++
				}
			}
			both := func(i int) [2]float64 {
				return [2]float64{median(before, metrics[i].of), median(after, metrics[i].of)}
			}
			w := Without{What: r.what, Condition: name, Met: float64(met) / withoutSeeds, Saved: both(0), P99: both(2),
				USDPerThousand: both(5)}
			if worst.What == "" || w.Met < worst.Met || w.Met == worst.Met && w.Saved[1] < worst.Saved[1] {
				worst = w
			}
		}
		all = append(all, worst)
	}
	return all, nil
}

// because says why no settings meet the objective: by a bound of theory, or by the search.
func (p *Problem) because(r *Result, simulated int) string {
	for _, b := range r.Bounds {
		if b.Excludes {
			return b.Text
		}
	}
	worst := r.Predictions[0]
	for _, x := range r.Predictions {
		if x.Met < worst.Met {
			worst = x
		}
	}
	o, text := &p.Objective, ""
	add := func(bad bool, format string, args ...any) {
		if bad && text == "" {
			text = fmt.Sprintf(format, args...)
		}
	}
	m := worst.Metrics
	add(m["saved"].Low < o.Saved, "only %.4g %% of the records are saved in time in one of twenty periods", 100*m["saved"].Low)
	add(o.Finish > 0 && m["finish"].High > o.Finish, "the Map takes %s in one of twenty periods", inWords(m["finish"].High))
	add(o.USDPerThousand > 0 && m["usdPerThousand"].High > o.USDPerThousand, "1,000 records cost $%.4g in one of twenty periods",
		m["usdPerThousand"].High)
	add(o.CallsPerRecord > 0 && m["callsPerRecord"].High > o.CallsPerRecord, "a record takes %.4g calls in one of twenty periods",
		m["callsPerRecord"].High)
	add(o.PeakCalls > 0 && m["peakCalls"].High > o.PeakCalls, "%.4g calls/s occur in one of twenty periods", m["peakCalls"].High)
	add(true, "too many periods miss the objective")
	return fmt.Sprintf("no settings of those searched meet it (%d periods simulated): with the best, condition %s, %s; %.3g %% of the "+
		"periods meet the objective", simulated, worst.Condition, text, 100*worst.Met)
}

// nearest states the objective that the settings meet in every condition.
func (p *Problem) nearest(r *Result) string {
	o := p.Objective
	for _, x := range r.Predictions {
		m := x.Metrics
		o.Saved = min(o.Saved, math.Floor(m["saved"].Low*1e4)/1e4)
		raise := func(bound *float64, by float64) {
			if *bound > 0 {
				*bound = max(*bound, by)
			}
		}
		raise(&o.Finish, math.Ceil(m["finish"].High))
		raise(&o.USDPerThousand, m["usdPerThousand"].High)
		raise(&o.CallsPerRecord, m["callsPerRecord"].High)
		raise(&o.PeakCalls, m["peakCalls"].High)
	}
	return o.String() + ", with " + r.Settings.String()
}

// alarms derives thresholds: what a period does not reach unless something is wrong.
func (p *Problem) alarms(r *Result) []Alarm {
	calm := r.Predictions[0].Metrics
	peak := calm["peakCalls"].High * 60
	all := []Alarm{{
		Metric: "TaskAttempts", Threshold: math.Ceil(1.1 * peak), Seconds: 60, Periods: 3,
		Text: fmt.Sprintf("attempts of %s above %.0f a minute for 3 minutes: more than a calm period has", p.State, math.Ceil(1.1*peak)),
	}}
	dead := 0.0
	for _, x := range r.Predictions {
		dead = max(dead, x.Metrics["dead"].High)
	}
	all = append(all, Alarm{
		Metric: "dead", Threshold: dead, Seconds: p.Period, Periods: 1,
		Text: fmt.Sprintf("more than %s in %s: more than the named faults leave",
			spelling.Counted(int64(dead), "dead letter"), inWords(p.Period)),
	})
	if r.Settings.Limiter {
		low := max(limiter.Standard().Min, 1)
		all = append(all, Alarm{
			Metric: "limit", Threshold: low, Seconds: 60, Periods: 3,
			Text: fmt.Sprintf("the limiter at its minimum of %.0f for 3 minutes: the callee is unavailable", low),
		})
	}
	return all
}

// redrive plans the redrive of dead letters at 80 % of the spare capacity.
func (p *Problem) redrive(r *Result) *Redrive {
	if p.Arrivals == nil {
		return nil
	}
	x := &Redrive{}
	for _, c := range r.Predictions {
		x.Records = max(x.Records, c.Metrics["dead"].High)
	}
	x.PerSecond = max(0, 0.8*(p.Callee.Capacity().Low-p.Arrivals.Rate.High))
	if x.PerSecond > 0 {
		x.Seconds = x.Records / x.PerSecond
	}
	return x
}
