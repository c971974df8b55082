package design

import (
	"fmt"
	"math"
	"strings"

	"stepback/adaptive/lab/scenario"
	"stepback/adaptive/lab/simulation"
	"stepback/adaptive/worth"
)

// Objective holds the bounds that a period must keep. A zero member sets no bound, except Saved and Within.
type Objective struct {
	// Saved is the minimum share of the records that succeed within Within seconds of their arrival.
	Saved  float64 `json:"saved"`
	Within float64 `json:"within"`
	// Finish is the maximum time of a Map.
	Finish float64 `json:"finish,omitempty"`
	// USDPerThousand is the maximum cost of 1,000 records. CallsPerRecord is the maximum mean number of calls, and
	// PeakCalls the maximum number of calls per second in any ten seconds.
	USDPerThousand float64 `json:"usdPerThousand,omitempty"`
	CallsPerRecord float64 `json:"callsPerRecord,omitempty"`
	PeakCalls      float64 `json:"peakCalls,omitempty"`
	// Confidence is the share of the periods that must achieve all of it, 0.5 to 0.99.
	Confidence float64 `json:"confidence"`
}

// Outcome holds the measurements of one simulated or recorded period.
type Outcome struct {
	// Saved is the share of the records done in time, and Dead the number of records given up.
	Saved float64 `json:"saved"`
	Dead  float64 `json:"dead"`
	// P50 and P99 are quantiles of the time to success in seconds. Finish is the time of a Map; 0 of a stream.
	P50    float64 `json:"p50"`
	P99    float64 `json:"p99"`
	Finish float64 `json:"finish,omitempty"`
	// USDPerThousand, CallsPerRecord and PeakCalls have the meanings of [Objective].
	USDPerThousand float64 `json:"usdPerThousand"`
	CallsPerRecord float64 `json:"callsPerRecord"`
	PeakCalls      float64 `json:"peakCalls"`
}

// metric is one member of an outcome.
type metric struct {
	name, unit string
	of         func(*Outcome) float64
}

// outcome computes the outcome of a run.
func (p *Problem) outcome(s *scenario.Scenario, r *simulation.Result) Outcome {
	values := map[string]float64{}
	for i, name := range scenario.Metrics {
		values[name] = r.Values[i]
	}
	offered := 0.0
	for _, phase := range r.Phases {
		offered += phase.Offered
	}
	o := Outcome{
		Saved: zeroIfNaN(r.Within), Dead: values["deadLettered"] + float64(r.Open), P50: zeroIfNaN(values["p50"]),
		P99: zeroIfNaN(values["p99"]), USDPerThousand: zeroIfNaN(values["costUSD"] / offered * 1000),
		CallsPerRecord: zeroIfNaN(values["amplification"]),
	}
	first := int(s.Warmup / simulation.BinWidth)
	for _, b := range r.Bins[min(first, len(r.Bins)):] {
		o.PeakCalls = max(o.PeakCalls, float64(b.Calls)/simulation.BinWidth.Seconds())
	}
	if p.Map != nil {
		o.Finish = min(values["timeToDrain"], longest)
	}
	return o
}

func zeroIfNaN(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return x
}

// violation returns by how much an outcome misses the objective, as the largest relative miss; 0 if it meets it.
func (o *Objective) violation(x *Outcome) float64 {
	worst := 0.0
	if miss := o.Saved - x.Saved; miss > 1e-12 {
		worst = miss / max(1-o.Saved, 0.001)
	}
	for _, b := range []struct{ is, most float64 }{
		{x.Finish, o.Finish}, {x.USDPerThousand, o.USDPerThousand}, {x.CallsPerRecord, o.CallsPerRecord},
		{x.PeakCalls, o.PeakCalls},
	} {
		if b.most > 0 && b.is > b.most {
			worst = max(worst, b.is/b.most-1)
		}
	}
	return worst
}

// Met reports whether an outcome meets the objective.
func (o *Objective) Met(x Outcome) bool { return o.violation(&x) == 0 }

// inWords formats seconds as a duration.
func inWords(s float64) string {
	if s >= 1e6 {
		return fmt.Sprintf("%.3g s", s)
	}
	d := seconds(s)
	if d >= 10e9 {
		d = d.Round(1e9)
	} else {
		d = d.Round(1e6)
	}
	return d.String()
}

// costFloor returns the smallest possible cost of 1,000 records in USD: one transition and one invocation each.
func (p *Problem) costFloor(prices worth.Prices) float64 {
	c := prices.Cost(worth.Attempt{MemoryMB: p.Call.MemoryMB, Duration: seconds(p.Callee.Mean.Low)})
	return 1000 * (c.Transition + c.Request + c.Compute)
}

// metrics lists the members of an outcome in the order of reports.
var metrics = []metric{
	{"saved", "share", func(o *Outcome) float64 { return o.Saved }},
	{"p50", "s", func(o *Outcome) float64 { return o.P50 }},
	{"p99", "s", func(o *Outcome) float64 { return o.P99 }},
	{"callsPerRecord", "calls", func(o *Outcome) float64 { return o.CallsPerRecord }},
	{"peakCalls", "calls/s", func(o *Outcome) float64 { return o.PeakCalls }},
	{"usdPerThousand", "USD", func(o *Outcome) float64 { return o.USDPerThousand }},
	{"dead", "records", func(o *Outcome) float64 { return o.Dead }},
	{"finish", "s", func(o *Outcome) float64 { return o.Finish }},
}

// String states the objective in words.
func (o *Objective) String() string {
	parts := []string{fmt.Sprintf("%.6g %% of the records succeed within %s", 100*o.Saved, inWords(o.Within))}
	add := func(is float64, format string) {
		if is > 0 {
			parts = append(parts, fmt.Sprintf(format, is))
		}
	}
	if o.Finish > 0 {
		parts = append(parts, "the Map ends within "+inWords(o.Finish))
	}
	add(o.USDPerThousand, "1,000 records cost at most $%.4g")
	add(o.CallsPerRecord, "at most %.4g calls a record")
	add(o.PeakCalls, "at most %.4g calls/s in any ten seconds")
	return strings.Join(parts, ", ") + fmt.Sprintf("; in %.4g %% of the periods", 100*o.Confidence)
}
