package regret

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"stepback/adaptive/lab"
	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
	"stepback/adaptive/lab/statistics"
)

// The bounds of [Report.Met].
const (
	// Ratio is the largest tolerable ratio of latency and cost to the cheapest policy that saves as much.
	Ratio = 1.25
	// Within is the share of the scenarios in which Ratio must hold.
	Within = 0.95
)

// asMuch is the largest difference in success at which a policy can save as much as another. Where some seeds collapse
// and some do not, the interval is so wide that it would include a policy that loses a fifth of the records.
const asMuch = 0.001

// MaxScenarios is the maximum number of scenarios.
const MaxScenarios = 2000

// others are the policies with which a policy is compared.
var others = []string{"none", "static", "aimd"}

// Options select what is measured.
type Options struct {
	// Policy is the policy whose regret is measured.
	Policy *policy.Policy
	// Scenarios is the number of scenarios; 1 to MaxScenarios. First is the number of the first one.
	Scenarios int
	First     uint64
	// Seeds is the number of seeds of each scenario, at least 2. FirstSeed is the first one.
	Seeds     int
	FirstSeed uint64
	// Progress, unless nil, is called after each run with the number of finished runs; calls do not overlap.
	Progress func(done, total int)
}

// Validate returns an error if an option is out of range.
func (o *Options) Validate() error {
	if o.Scenarios < 1 || o.Scenarios > MaxScenarios {
		return fmt.Errorf("%d scenarios are out of range; give 1 to %d", o.Scenarios, MaxScenarios)
	}
	if o.Seeds < 2 {
		return fmt.Errorf("%d seeds are too few for an interval; give at least 2", o.Seeds)
	}
	if slices.Contains(others, o.Policy.Name) {
		return fmt.Errorf("the policy %s is one of those that it would be compared with; name another", o.Policy.Name)
	}
	return nil
}

// Row is the regret in one scenario.
type Row struct {
	// Number identifies the scenario; see [Draw]. Kind and About describe it.
	Number uint64 `json:"number"`
	Kind   string `json:"kind"`
	About  string `json:"about"`
	// Success holds the mean success of each policy, P99 the median of its 99th percentile in seconds, and USD its mean
	// cost.
	Success Values `json:"success"`
	P99     Values `json:"p99"`
	USD     Values `json:"usd"`
	// Lost is the share that Best, the best of the others, saves more than the policy; 0 if that is within the
	// interval.
	Lost float64 `json:"lost"`
	Best string  `json:"best,omitempty"`
	// SlowerBy and DearerBy are the ratios to the best of the others that save as much; 1 if there is none. They are
	// below 1 if the policy is better.
	SlowerBy float64 `json:"slowerBy"`
	DearerBy float64 `json:"dearerBy"`
}

// Values holds a number for each policy. It is NaN if there is none, such as the p99 of a policy that saves nothing.
type Values map[string]float64

// MarshalJSON writes null for numbers that are NaN.
func (v Values) MarshalJSON() ([]byte, error) {
	out := make(map[string]*float64, len(v))
	for name, n := range v {
		if out[name] = nil; !math.IsNaN(n) {
			out[name] = &n
		}
	}
	return json.Marshal(out)
}

// Report is the regret in all scenarios.
type Report struct {
	Policy    string `json:"policy"`
	First     uint64 `json:"first"`
	Seeds     int    `json:"seeds"`
	FirstSeed uint64 `json:"firstSeed"`
	Rows      []Row  `json:"rows"`
}

// Run draws the scenarios and runs them under the policy and the others.
func Run(ctx context.Context, o Options) (*Report, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	e := lab.Experiment{Seeds: o.Seeds, FirstSeed: o.FirstSeed}
	for _, name := range others {
		p, err := policy.Named(name)
		if err != nil {
			return nil, err
		}
		e.Policies = append(e.Policies, p)
	}
	e.Policies = append(e.Policies, o.Policy)
	report := &Report{Policy: o.Policy.Name, First: o.First, Seeds: o.Seeds, FirstSeed: o.FirstSeed}
	total := o.Scenarios * len(e.Policies) * o.Seeds
	for i := range o.Scenarios {
		number := o.First + uint64(i)
		s, kind, err := scenarioOf(number)
		if err != nil {
			return nil, fmt.Errorf("scenario %d was drawn wrong: %w", number, err)
		}
		e.Scenarios = []*scenario.Scenario{s}
		if o.Progress != nil {
			before := i * len(e.Policies) * o.Seeds
			e.Progress = func(done, _ int) { o.Progress(before+done, total) }
		}
		r, err := lab.Run(ctx, e)
		if err != nil {
			return nil, err
		}
		row := row(r, s.Name, o.Policy.Name)
		row.Number, row.Kind, row.About = number, kind, s.About
		report.Rows = append(report.Rows, row)
	}
	return report, nil
}

// column returns a metric of all seeds.
func column(r *lab.Report, name, of string, metric int) []float64 {
	runs := r.Runs(name, of)
	values := make([]float64, len(runs))
	for i, run := range runs {
		values[i] = run.Values[metric]
	}
	return values
}

// row computes the regret in one scenario.
func row(r *lab.Report, name, of string) Row {
	out := Row{Success: Values{}, P99: Values{}, USD: Values{}}
	for _, p := range append(slices.Clone(others), of) {
		m := r.Result(name, p).Metrics
		out.Success[p], out.P99[p], out.USD[p] = m["success"].Mean, m["p99"].Mean, m["costUSD"].Mean
	}
	success := slices.Index(scenario.Metrics, "success")
	mine := column(r, name, of, success)
	p99, usd := math.NaN(), math.NaN()
	for _, p := range others {
		d := statistics.Mean(statistics.Differences(column(r, name, p, success), mine))
		if d.Low > 0 && d.Mean > out.Lost {
			out.Lost, out.Best = d.Mean, p
		}
		if d.High >= 0 && d.Mean >= -asMuch {
			p99, usd = smaller(p99, out.P99[p]), smaller(usd, out.USD[p])
		}
	}
	out.SlowerBy, out.DearerBy = ratio(out.P99[of], p99), ratio(out.USD[of], usd)
	return out
}

// smaller returns the smaller of two numbers that may be missing.
func smaller(a, b float64) float64 {
	if math.IsNaN(a) || b < a {
		return b
	}
	return a
}

// ratio returns a ÷ b, or 1 if either is missing.
func ratio(a, b float64) float64 {
	if q := a / b; q > 0 && !math.IsInf(q, 0) {
		return q
	}
	return 1
}

// Below returns the rows in which another policy saves more than the interval.
func (r *Report) Below() []Row {
	var rows []Row
	for _, row := range r.Rows {
		if row.Lost > 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

// SlowerWithin and DearerWithin return the share of the scenarios in which latency and cost are at most Ratio times
// those of the cheapest policy that saves as much.
func (r *Report) SlowerWithin() float64 { return r.within(func(x Row) float64 { return x.SlowerBy }) }

// DearerWithin is documented at [Report.SlowerWithin].
func (r *Report) DearerWithin() float64 { return r.within(func(x Row) float64 { return x.DearerBy }) }

func (r *Report) within(of func(Row) float64) float64 {
	n := 0
	for _, row := range r.Rows {
		if of(row) <= Ratio {
			n++
		}
	}
	return float64(n) / float64(len(r.Rows))
}

// Met reports whether no other policy saves more in any scenario, and latency and cost are within Ratio in the share
// Within of them.
func (r *Report) Met() bool {
	return len(r.Below()) == 0 && r.SlowerWithin() >= Within && r.DearerWithin() >= Within
}
