package design

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"stepback/adaptive/lab/draw"
	"stepback/adaptive/lab/scenario"
)

// Version is the version of the design file that this package reads and writes.
const Version = 1

// The limits of a problem.
const (
	// MaxRecords is the maximum number of records in one simulated period.
	MaxRecords = 200_000
	maxFaults  = 8
	maxErrors  = 16
	// longest is the maximum of every time in seconds: a week.
	longest = 7 * 24 * 3600.0
)

// Range is an uncertain number: it lies between Low and High in nine of ten cases or more. A known number has equal
// ends. In JSON it is a number, or an array of both ends.
type Range struct{ Low, High float64 }

// Exactly returns the range of a known number.
func Exactly(x float64) Range { return Range{x, x} }

// MarshalJSON implements json.Marshaler.
func (r Range) MarshalJSON() ([]byte, error) {
	if r.Low == r.High {
		return json.Marshal(r.Low)
	}
	return json.Marshal([]float64{r.Low, r.High})
}

// at returns the value at a share u, 0 to 1, of the way from Low to High.
func (r Range) at(u float64) float64 { return r.Low + u*(r.High-r.Low) }

// disjoint reports whether the ranges have no common value.
func (r Range) disjoint(o Range) bool { return r.High < o.Low || o.High < r.Low }

// String formats the range: "5", or "4 to 6".
func (r Range) String() string {
	if r.Low == r.High {
		return fmt.Sprintf("%.4g", r.Low)
	}
	return fmt.Sprintf("%.4g to %.4g", r.Low, r.High)
}

// Problem describes a callee, its load, its faults and the objective of a design. Times are in seconds.
type Problem struct {
	// Name identifies the problem. State is the name of the Task state.
	Name  string `json:"name"`
	State string `json:"state"`
	// Exactly one of Arrivals and Map is set: an open stream, or a distributed Map.
	Arrivals *Arrivals `json:"arrivals,omitempty"`
	Map      *Map      `json:"map,omitempty"`
	Callee   Callee    `json:"callee"`
	// Unknown lists what the histories to which the callee was fitted do not show.
	Unknown []string `json:"unknown,omitempty"`
	Call    Call     `json:"call"`
	// Faults are the faults to survive, one at a time. A calm period is always added.
	Faults    []Fault   `json:"faults,omitempty"`
	Objective Objective `json:"objective"`
	// Period is the length of the period for which the objective holds, and in which a fault occurs once.
	Period float64 `json:"period"`
	// Allow lists the mechanisms that the design may use besides Retry blocks; all of [Mechanisms] if it is nil. A
	// limiter, a breaker and a budget act in the function that calls the callee.
	Allow []Mechanism `json:"allow"`
	// Seed selects the random numbers. It starts at 1.
	Seed uint64 `json:"seed"`
}

// Mechanism is a mechanism in the function that makes the calls.
type Mechanism string

// The mechanisms.
const (
	UseBudget  Mechanism = "budget"  // retries cost tokens that successes earn
	UseLimiter Mechanism = "limiter" // AIMD limit on the calls in flight; refused records wait
	UseBreaker Mechanism = "breaker" // opens when nothing succeeds; requires the limiter
)

// Mechanisms returns all mechanisms.
func Mechanisms() []Mechanism { return []Mechanism{UseBudget, UseLimiter, UseBreaker} }

// Arrivals is an open stream of records, Poisson with Rate records per second.
type Arrivals struct {
	Rate Range `json:"rate"`
}

// Map is a distributed Map over Items records. Concurrency is its MaxConcurrency; 0 if the design chooses it.
type Map struct {
	Items       int `json:"items"`
	Concurrency int `json:"concurrency,omitempty"`
}

// Callee describes the called service: servers with one queue.
type Callee struct {
	// Servers is the number of requests that it serves at the same time, Mean the mean time of one, and CV the standard
	// deviation of the time as a multiple of Mean; 0 for constant times.
	Servers Range   `json:"servers"`
	Mean    Range   `json:"mean"`
	CV      float64 `json:"cv"`
	// Queue is the number of requests that may wait; a further one fails with Rejection.
	Queue     int    `json:"queue"`
	Rejection string `json:"rejection"`
	// Errors are errors that occur at any load.
	Errors []Error `json:"errors,omitempty"`
	// Quota is the maximum rate of calls per second, with bursts of Burst calls; 0 if there is none. Calls above it
	// fail with QuotaError.
	Quota      float64 `json:"quota,omitempty"`
	Burst      float64 `json:"burst,omitempty"`
	QuotaError string  `json:"quotaError,omitempty"`
}

// Error is an error of the callee with its share of the calls.
type Error struct {
	Name  string `json:"name"`
	Share Range  `json:"share"`
	// Permanent is true if a record that fails with the error always does.
	Permanent bool `json:"permanent,omitempty"`
}

// Call describes the state's call.
type Call struct {
	// Timeout is the state's TimeoutSeconds; 0 if the design chooses it. TimeoutError is the name of the error.
	Timeout      float64 `json:"timeout,omitempty"`
	TimeoutError string  `json:"timeoutError"`
	// MemoryMB is the memory of the function that makes the call; 0 if there is none.
	MemoryMB int `json:"memory"`
}

// Fault is a fault of the callee, once in a period.
type Fault struct {
	Name string `json:"name"`
	// For is its length. Errors is the share of the calls that fail with Error, at once. Speed is the speed of the
	// servers during the fault; 1 is normal.
	For    Range  `json:"for"`
	Errors Range  `json:"errors"`
	Error  string `json:"error,omitempty"`
	Speed  Range  `json:"speed"`
}

// meanAmong returns the mean time of a call that finds n calls in flight, itself included, on a callee with servers.
func meanAmong(n int, mean, servers Range) Range {
	stretch := func(servers float64) float64 { return max(1, float64(n)/max(math.Round(servers), 1)) }
	return Range{mean.Low * stretch(servers.High), mean.High * stretch(servers.Low)}
}

// capacity returns the calls per second that the callee serves with servers and mean at the given values.
func (c *Callee) capacity(servers, mean float64) float64 {
	rate := math.Max(1, math.Round(servers)) / mean
	if c.Quota > 0 {
		rate = min(rate, c.Quota)
	}
	return rate
}

// Capacity returns the range of the calls per second that the callee serves.
func (c *Callee) Capacity() Range {
	return Range{c.capacity(c.Servers.Low, c.Mean.High), c.capacity(c.Servers.High, c.Mean.Low)}
}

// permanent returns the lowest share of the records that never succeed.
func (c *Callee) permanent() float64 {
	sum := 0.0
	for _, e := range c.Errors {
		if e.Permanent {
			sum += e.Share.Low
		}
	}
	return sum
}

// transient returns the lowest share of the calls that fail at any load.
func (c *Callee) transient() float64 {
	sum := 0.0
	for _, e := range c.Errors {
		if !e.Permanent {
			sum += e.Share.Low
		}
	}
	return sum
}

// permits reports whether the design may use a mechanism.
func (p *Problem) permits(m Mechanism) bool { return p.Allow == nil || slices.Contains(p.Allow, m) }

// ErrContradiction is in the tree of the errors of problems whose members contradict each other.
var ErrContradiction = errors.New("the problem contradicts itself")

// Validate returns the problem's first contradiction, or an error for a problem that is too large. The parser checks
// the ranges of single members.
func (p *Problem) Validate() error {
	contradiction := func(format string, args ...any) error {
		return fmt.Errorf("%s: %w: %s", p.Name, ErrContradiction, fmt.Sprintf(format, args...))
	}
	o := &p.Objective
	if p.Arrivals == nil && p.Map == nil || p.Arrivals != nil && p.Map != nil {
		return contradiction("give either arrivals or map")
	}
	if p.Callee.Servers.High < 1 || p.Callee.Mean.High <= 0 {
		return contradiction("the callee has no capacity: servers are %s, mean is %s; give at least one server and a mean "+
			"above 0", p.Callee.Servers, p.Callee.Mean)
	}
	if o.Within < p.Callee.Mean.Low {
		return contradiction("objective.within is %.4g s, and a single call takes %s s; give more time", o.Within, p.Callee.Mean)
	}
	if p.Call.Timeout > 0 && p.Call.Timeout < p.Callee.Mean.Low {
		return contradiction("call.timeout is %.4g s, and a call takes %s s on average; give more time", p.Call.Timeout,
			p.Callee.Mean)
	}
	if o.Finish > 0 && p.Map == nil {
		return contradiction("objective.finish is for a map; an open stream never finishes")
	}
	for _, f := range p.Faults {
		if f.For.High > p.Period/2 {
			return contradiction("fault %s lasts up to %.4g s, more than half of the period of %.4g s; give a longer period",
				f.Name, f.For.High, p.Period)
		}
		if f.Errors.High == 0 && f.Speed.Low == 1 && f.Speed.High == 1 {
			return contradiction("fault %s changes nothing; give errors or speed", f.Name)
		}
	}
	if o.CallsPerRecord > 0 && o.CallsPerRecord < 1 {
		return contradiction("objective.callsPerRecord is %.4g; every record needs at least one call", o.CallsPerRecord)
	}
	if !p.permits(UseLimiter) && p.permits(UseBreaker) {
		return contradiction("allow lists breaker without limiter; the breaker requires the limiter")
	}
	if n := p.records(); n > MaxRecords {
		return fmt.Errorf("%s: a period has about %.3g records, and at most %d are simulated; give a shorter period, or a "+
			"tenth of the rate and of the servers", p.Name, n, MaxRecords)
	}
	return nil
}

// records returns the largest expected number of records in a period.
func (p *Problem) records() float64 {
	if p.Map != nil {
		return float64(p.Map.Items)
	}
	return p.Arrivals.Rate.High * (p.Period + p.warmup())
}

// warmup returns the time before the period, in which the queue reaches its usual length.
func (p *Problem) warmup() float64 {
	if p.Map != nil {
		return 0
	}
	return math.Ceil(min(max(20, 20*p.Callee.Mean.High), 600))
}

// Calm is the name of the condition without a fault.
const Calm = "calm"

// conditions returns the names of the conditions: calm, then the faults.
func (p *Problem) conditions() []string {
	names := make([]string, 1, 1+len(p.Faults))
	names[0] = Calm
	for _, f := range p.Faults {
		names = append(names, f.Name)
	}
	return names
}

// forParameters is the purpose of the random numbers that select the values within uncertain ranges.
const forParameters draw.Purpose = 101

// scenario returns the laboratory's scenario of a condition: 0 is calm, k is the fault k−1. The seed selects the values
// within the ranges. The settings determine retriers, timeout and concurrency.
func (p *Problem) scenario(s *Settings, condition int, seed uint64) *scenario.Scenario {
	n := uint64(0)
	value := func(r Range) float64 {
		n++
		return r.at(draw.Float(seed, forParameters, n, 0))
	}
	c := &p.Callee
	mean := value(c.Mean)
	service := scenario.Service{
		Name: "callee", Servers: max(1, int(math.Round(value(c.Servers)))), Time: distribution(mean, c.CV), Queue: c.Queue,
		Order: scenario.FIFO, Rejection: c.Rejection, Partitions: 1,
	}
	for _, e := range c.Errors {
		mix := scenario.ErrorMix{Name: e.Name, P: value(e.Share), After: -1, Kind: scenario.Transient}
		if e.Permanent {
			mix.Kind, mix.ByItem = scenario.Permanent, true
		}
		service.Errors = append(service.Errors, mix)
	}
	if c.Quota > 0 {
		service.Quota = &scenario.Quota{Rate: c.Quota, Burst: c.Burst, Error: c.QuotaError}
	}
	work := scenario.Workload{
		Name: "work", State: p.State, Retriers: p.retriers(s),
		Call: scenario.Call{Timeout: seconds(s.Timeout), TimeoutError: p.Call.TimeoutError, MemoryMB: p.Call.MemoryMB},
	}
	out := &scenario.Scenario{
		Name: "design", About: p.Name + ", " + p.conditions()[condition], Warmup: seconds(p.warmup()),
		Duration: seconds(p.warmup() + p.Period), Drain: seconds(max(p.Objective.Within, 600)),
		Observe: scenario.Observe{Period: 60e9, Delay: 120e9},
	}
	begin := p.warmup() + min(60, p.Period/10)
	if p.Map != nil {
		work.Map = &scenario.Map{Items: p.Map.Items, MaxConcurrency: s.Concurrency, Batch: 1}
		begin = 0.25 * float64(p.Map.Items) / c.capacity(float64(service.Servers), mean)
		out.Drain = seconds(longest)
	} else {
		work.Arrivals = &scenario.Arrivals{Process: scenario.Poisson, Rate: value(p.Arrivals.Rate)}
	}
	if condition > 0 {
		f := &p.Faults[condition-1]
		lasts, share, speed := value(f.For), value(f.Errors), value(f.Speed)
		fault := scenario.Fault{At: seconds(begin), For: seconds(lasts), From: speed, To: speed, P: share,
			After: 50e6, Error: f.Error}
		out.Faults = []scenario.Fault{fault}
		out.Duration = max(out.Duration, fault.At+fault.For)
	}
	out.Services, out.Workloads = []scenario.Service{service}, []scenario.Workload{work}
	return out
}

// distribution returns the distribution of service times.
func distribution(mean, cv float64) scenario.Distribution {
	switch {
	case cv <= 0:
		return scenario.Distribution{Kind: scenario.DistributionConstant, Mean: mean}
	case cv == 1:
		return scenario.Distribution{Kind: scenario.DistributionExp, Mean: mean}
	}
	return scenario.Distribution{Kind: scenario.DistributionLognormal, Mean: mean, CV: cv}
}
