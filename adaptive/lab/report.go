package lab

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"stepback/adaptive/controller/decide"
	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
	"stepback/adaptive/lab/simulation"
	"stepback/adaptive/lab/statistics"
)

// Report is the result of an experiment.
type Report struct {
	// Lab is the version of the format, 1.
	Lab          int           `json:"lab"`
	Seeds        SeedRange     `json:"seeds"`
	Prices       PriceList     `json:"prices"`
	Results      []Result      `json:"results"`
	Expectations []Expectation `json:"expectations"`

	series map[key][]*simulation.Result
}

type key struct{ scenario, policy string }

// SeedRange is the range of seeds that were run. Tuning is true if they include seeds on which policies may be tuned.
type SeedRange struct {
	First  uint64 `json:"first"`
	Count  int    `json:"count"`
	Tuning bool   `json:"tuning"`
}

// PriceList identifies the prices on which costUSD is based.
type PriceList struct {
	Region string `json:"region"`
	Date   string `json:"date"`
}

// Result is the result of a policy in a scenario.
type Result struct {
	Scenario string `json:"scenario"`
	Policy   string `json:"policy"`
	// Metrics maps the names in scenario.Metrics, notRecovered and tippedOver, to estimates. The last two are numbers
	// of seeds; their intervals are those of [Share], times the number of seeds.
	Metrics map[string]Estimate `json:"metrics"`
	// Phases maps a phase (before, during, after, drain) to its estimates by name: offered, success, deadLettered,
	// goodput and calls.
	Phases map[string]map[string]Estimate `json:"phases"`
	// NotRecovered is the number of seeds in which goodput had not recovered when the run ended.
	NotRecovered int `json:"notRecovered"`
	// TippedOver is the share of the seeds in which the service tipped over; see [simulation.Result].
	TippedOver Share `json:"tippedOver"`
	// Undrained is the number of seeds in which records were still open when the run ended.
	Undrained int `json:"undrained"`
	// Tiers are the loads of the services, if services call services: first those that records call, then those that
	// these call. They show where retries multiply.
	Tiers []Tier `json:"tiers,omitempty"`
	// VersusStatic holds the differences from the policy static on the same seeds, by metric. It is empty in the
	// results of static itself.
	VersusStatic map[string]Difference `json:"versusStatic,omitempty"`
}

// Tier is the load of one service after the warm-up.
type Tier struct {
	Service string `json:"service"`
	// Peak is the number of calls a second in the ten seconds with most. CallsPerRecord is the number of calls for
	// every record for which a call was made, and CallsPerCall that for every call to the services that call this one;
	// of a service that records call, for every first call.
	Peak           Estimate `json:"peak"`
	CallsPerRecord Estimate `json:"callsPerRecord"`
	CallsPerCall   Estimate `json:"callsPerCall"`
	// Refused is the share of the calls that a quota, a full queue or CoDel refused. Failed is the share that failed
	// otherwise, by an error or because the caller's time was over.
	Refused Estimate `json:"refused"`
	Failed  Estimate `json:"failed"`
}

// Share is the number of seeds with some property, out of Of seeds, with Wilson's 95 % interval of its probability.
type Share struct {
	Seeds int     `json:"seeds"`
	Of    int     `json:"of"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

func shareOf(seeds, of int) Share {
	low, high := decide.Share{Of: float64(of), Have: float64(seeds)}.Interval()
	return Share{seeds, of, low, high}
}

// estimate returns the number of seeds, with the interval as numbers of seeds.
func (s Share) estimate() Estimate {
	n := float64(s.Of)
	return Estimate{statistics.Estimate{Mean: float64(s.Seeds), Low: n * s.Low, High: n * s.High, N: s.Of}, "count"}
}

// Estimate is an estimate with its 95 % interval. Statistic is mean, median or count, over the seeds.
type Estimate struct {
	statistics.Estimate
	Statistic string
}

// Difference is an estimate of paired differences. P is the p-value of "no difference". PHolm is P corrected for
// comparing all policies of the scenario. Both are NaN for medians.
type Difference struct {
	Estimate
	P, PHolm float64
}

// MarshalJSON writes numbers to nine digits, and null for missing ones.
func (e Estimate) MarshalJSON() ([]byte, error) { return e.appendJSON(nil), nil }

func (e Estimate) appendJSON(b []byte) []byte {
	b = appendNumber(append(b, `{"mean":`...), e.Mean)
	b = appendNumber(append(b, `,"low":`...), e.Low)
	b = appendNumber(append(b, `,"high":`...), e.High)
	b = strconv.AppendInt(append(b, `,"n":`...), int64(e.N), 10)
	return append(append(append(b, `,"statistic":"`...), e.Statistic...), `"}`...)
}

// MarshalJSON is like Estimate's, with pHolm in addition.
func (d Difference) MarshalJSON() ([]byte, error) {
	b := d.appendJSON(nil)
	b = appendNumber(append(b[:len(b)-1], `,"pHolm":`...), d.PHolm)
	return append(b, '}'), nil
}

func appendNumber(b []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, f, 'g', 9, 64)
}

// WriteJSON writes the report as indented JSON with a line feed at its end.
func (r *Report) WriteJSON(w io.Writer) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// Failed reports whether an expectation was judged and not met.
func (r *Report) Failed() bool {
	for _, e := range r.Expectations {
		if e.Judged && !e.Met {
			return true
		}
	}
	return false
}

// Result returns the result of a scenario and policy, or nil if there is none.
func (r *Report) Result(scenario, policy string) *Result {
	for i := range r.Results {
		if r.Results[i].Scenario == scenario && r.Results[i].Policy == policy {
			return &r.Results[i]
		}
	}
	return nil
}

// Runs returns the individual runs of a scenario and policy, by seed; nil if there are none.
func (r *Report) Runs(scenario, policy string) []*simulation.Result {
	return r.series[key{scenario, policy}]
}

func (r *Report) add(s *scenario.Scenario, policies []*policy.Policy, results [][]*simulation.Result,
	base []*simulation.Result,
) {
	if r.series == nil {
		r.series = map[key][]*simulation.Result{}
		r.Expectations = []Expectation{}
	}
	first := len(r.Results)
	for i, p := range policies {
		res := summarize(s.Name, p.Name, results[i], base)
		res.Tiers = tiersOf(s, results[i])
		r.Results = append(r.Results, res)
		r.series[key{s.Name, p.Name}] = results[i]
	}
	adjust(r.Results[first:])
	for _, e := range s.Expect {
		r.Expectations = append(r.Expectations, r.judge(s.Name, e))
	}
}

func summarize(scenarioName, policyName string, runs, base []*simulation.Result) Result {
	res := Result{
		Scenario: scenarioName, Policy: policyName,
		Metrics: map[string]Estimate{}, Phases: map[string]map[string]Estimate{},
	}
	limits := boundsOf(append(slices.Clone(runs), base...))
	versus := differences(limits)
	for i, name := range scenario.Metrics {
		values, theirs := column(runs, i), column(base, i)
		res.Metrics[name] = estimate(name, values, limits)
		for _, v := range values {
			switch {
			case name == "timeToRecover" && math.IsInf(v, 1):
				res.NotRecovered++
			case name == "timeToDrain" && math.IsInf(v, 1):
				res.Undrained++
			}
		}
		if policyName == static {
			continue
		}
		if res.VersusStatic == nil {
			res.VersusStatic = map[string]Difference{}
		}
		pairs := statistics.Differences(values, theirs)
		d := Difference{estimate(name, pairs, versus), math.NaN(), math.NaN()}
		if d.Statistic == "mean" {
			d.P = statistics.PValue(pairs)
		}
		res.VersusStatic[name] = d
	}
	tipped := 0
	for _, r := range runs {
		if r.TippedOver {
			tipped++
		}
	}
	res.TippedOver = shareOf(tipped, len(runs))
	res.Metrics["tippedOver"] = res.TippedOver.estimate()
	res.Metrics["notRecovered"] = shareOf(res.NotRecovered, len(runs)).estimate()
	for p := range runs[0].Phases {
		res.Phases[simulation.Phase(p).String()] = phase(runs, p)
	}
	return res
}

// tiersOf returns the loads of a scenario's services; nil if no service calls another one.
func tiersOf(s *scenario.Scenario, runs []*simulation.Result) []Tier {
	if !s.Tiered() {
		return nil
	}
	var all []Tier
	for k, i := range s.Tiers() {
		of := func(limits bounds, value func(*simulation.Load) float64) Estimate {
			values := make([]float64, len(runs))
			for n, run := range runs {
				values[n] = value(&run.Loads[k])
			}
			return estimate("load", values, map[string]bounds{"load": limits})
		}
		all = append(all, Tier{
			Service:        s.Services[i].Name,
			Peak:           of(unbounded, func(l *simulation.Load) float64 { return l.Peak }),
			CallsPerRecord: of(unbounded, func(l *simulation.Load) float64 { return l.PerRecord }),
			CallsPerCall:   of(unbounded, func(l *simulation.Load) float64 { return l.PerCall }),
			Refused:        of(bounds{0, 1}, func(l *simulation.Load) float64 { return l.Refused }),
			Failed:         of(bounds{0, 1}, func(l *simulation.Load) float64 { return l.Failed }),
		})
	}
	return all
}

func column(runs []*simulation.Result, metric int) []float64 {
	values := make([]float64, len(runs))
	for i, run := range runs {
		values[i] = run.Values[metric]
	}
	return values
}

func phase(runs []*simulation.Result, p int) map[string]Estimate {
	most := 0.0
	for _, run := range runs {
		most = max(most, run.Phases[p].Offered)
	}
	limits := map[string]bounds{"success": {0, 1}, "deadLettered": {0, most}}
	out := map[string]Estimate{}
	for name, value := range map[string]func(*simulation.PhaseResult) float64{
		"offered":      func(r *simulation.PhaseResult) float64 { return r.Offered },
		"success":      func(r *simulation.PhaseResult) float64 { return r.Success },
		"deadLettered": func(r *simulation.PhaseResult) float64 { return r.DeadLettered },
		"goodput":      func(r *simulation.PhaseResult) float64 { return r.Goodput },
		"calls":        func(r *simulation.PhaseResult) float64 { return r.Calls },
	} {
		values := make([]float64, len(runs))
		for i, run := range runs {
			values[i] = value(&run.Phases[p])
		}
		out[name] = estimate(name, values, limits)
	}
	return out
}

// adjust corrects the p-values of a scenario's policies for multiple comparisons.
func adjust(results []Result) {
	for _, name := range scenario.Metrics {
		p := make([]float64, len(results))
		for i := range results {
			p[i] = math.NaN()
			if d, ok := results[i].VersusStatic[name]; ok {
				p[i] = d.P
			}
		}
		for i, adjusted := range statistics.Holm(p) {
			if d, ok := results[i].VersusStatic[name]; ok {
				d.PHolm = adjusted
				results[i].VersusStatic[name] = d
			}
		}
	}
}

// Expectation is the result of checking one expectation of a scenario.
type Expectation struct {
	Scenario string `json:"scenario"`
	// Text is the expectation, and Got is the result.
	Text string `json:"text"`
	Got  string `json:"got"`
	// Judged is false if a policy that the expectation names was not run.
	Judged bool `json:"judged"`
	Met    bool `json:"met"`
}

func (r *Report) judge(name string, e scenario.Expectation) Expectation {
	out := Expectation{Scenario: name, Text: expectationText(e)}
	res := r.Result(name, e.Policy)
	if res == nil {
		out.Got = "not run"
		return out
	}
	if e.Never || e.Always {
		n := len(r.Runs(name, e.Policy))
		if res.Metrics["timeToRecover"].N > 0 {
			out.Judged = true
			out.Met = e.Never && res.NotRecovered == n || e.Always && res.NotRecovered == 0
		}
		out.Got = fmt.Sprintf("recovered in %d of %d seeds", n-res.NotRecovered, n)
		return out
	}
	value := res.Metrics[e.Metric].Mean
	if e.Versus != "" {
		other := r.Result(name, e.Versus)
		if other == nil {
			out.Got = e.Versus + " not run"
			return out
		}
		value /= other.Metrics[e.Metric].Mean
	}
	out.Judged, out.Met = true, holds(value, e.Relation, e.Value)
	out.Got = strconv.FormatFloat(value, 'g', 5, 64)
	return out
}

func expectationText(e scenario.Expectation) string {
	switch {
	case e.Never:
		return e.Policy + ": recovers never"
	case e.Always:
		return e.Policy + ": recovers always"
	case e.Versus != "":
		return fmt.Sprintf("%s: %s ÷ that of %s %s %v", e.Policy, e.Metric, e.Versus, e.Relation, e.Value)
	}
	return fmt.Sprintf("%s: %s %s %v", e.Policy, e.Metric, e.Relation, e.Value)
}

func holds(value float64, relation string, bound float64) bool {
	switch relation {
	case "<=":
		return value <= bound
	case ">=":
		return value >= bound
	case "<":
		return value < bound
	case ">":
		return value > bound
	default:
		return value == bound
	}
}
