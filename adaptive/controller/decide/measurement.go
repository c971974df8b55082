package decide

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Point holds one minute's measurements of the tasks of one state. All counts are 0 or more.
type Point struct {
	// Start is the beginning of the minute.
	Start time.Time
	// Attempts counts attempts of tasks; FirstAttempts counts those that are not retries.
	Attempts, FirstAttempts float64
	// Successes counts attempts that succeeded. Exhausted counts attempts that failed and were not retried.
	Successes, Exhausted float64
	// LoadFailures counts attempts that failed with a load error: timeouts, throttles, server errors, lost
	// connections.
	LoadFailures float64
	// Overload counts the load failures that are evidence of too much load: timeouts, throttles and rejections.
	Overload float64
}

// Capacity is the number of calls that a callee can serve.
type Capacity struct {
	// PerSecond is the number of calls served successfully per second; 0 if unknown.
	PerSecond float64
	// Saturated is true if the callee cannot serve more: the number was configured, or was measured under overload. A
	// callee that was never saturated has only shown the demand it met.
	Saturated bool
}

// Recovery describes how often one retry of one retrier recovered.
type Recovery struct {
	// Error is the first error name of the retrier. Retry is the number of the retry, from 1.
	Error string
	Retry int
	// Started is the number of retries, and Succeeded is the number of them that succeeded. Both are effective
	// numbers: the retries of one outage count once.
	Started, Succeeded float64
	// Value is the worth of a success, and Cost is the cost of the retry. Both are in USD.
	Value, Cost float64
}

// MapRun is a distributed Map that is running now.
type MapRun struct {
	// ARN is the Map Run's ARN.
	ARN string `json:"arn"`
	// Concurrency is the Map Run's present MaxConcurrency. Base is the one that it began with. Both are 1 to
	// 10,000.
	Concurrency int `json:"concurrency"`
	Base        int `json:"base"`
}

// Measurement holds all measurements of one state at one time.
type Measurement struct {
	// Now is when the measurement was taken.
	Now time.Time
	// Points covers minutes of at most the last day, in any order.
	Points []Point
	// Capacity is the callee's capacity.
	Capacity Capacity
	// Others is the number of first attempts per second that other states make on the same callee; see [Together].
	Others float64
	// CallTimeout is the time after which callers give up.
	CallTimeout time.Duration
	// Recoveries covers the last days, for R-pay.
	Recoveries []Recovery
	// MapRun is the running Map Run that calls the callee; nil for an open stream.
	MapRun *MapRun
	// Function is the input of the source's rules; nil if it was not measured.
	Function *Function
}

// The window of a decision: five complete minutes that are at least two minutes old, because metrics arrive late.
const (
	Minute      = time.Minute
	WindowSize  = 5
	Age         = 2 * time.Minute
	leastPoints = 3
	leastCount  = 100
)

// window is the sum of five minutes' points.
type window struct {
	points int
	Point
}

// problem returns why the measurement is unusable; "" if it is usable.
func (m *Measurement) problem() string {
	if m.Now.IsZero() {
		return "the measurement has no time"
	}
	seen := make([]int64, 0, len(m.Points))
	for _, p := range m.Points {
		if text := p.problem(m.Now); text != "" {
			return fmt.Sprintf("the minute of %s %s", p.Start.UTC().Format(time.RFC3339), text)
		}
		seen = append(seen, p.Start.Unix())
	}
	slices.Sort(seen)
	if len(slices.Compact(slices.Clone(seen))) != len(seen) {
		return "a minute was measured twice"
	}
	if c := m.Capacity.PerSecond; !(c >= 0) || math.IsInf(c, 0) {
		return fmt.Sprintf("the capacity is %v a second", c)
	}
	if !(m.Others >= 0) || math.IsInf(m.Others, 0) {
		return fmt.Sprintf("other states make %v first attempts a second", m.Others)
	}
	if r := m.MapRun; r != nil &&
		(r.Concurrency < 1 || r.Base < 1 || r.Concurrency > MaxConcurrency || r.Base > MaxConcurrency) {
		return fmt.Sprintf("the Map Run's concurrency is %d of %d; it must be between 1 and %d", r.Concurrency, r.Base,
			MaxConcurrency)
	}
	return ""
}

// problem returns why the point cannot be a minute's measurements; "" if it can.
func (p Point) problem(now time.Time) string {
	for _, f := range []struct {
		name string
		is   float64
	}{
		{"attempts", p.Attempts}, {"first attempts", p.FirstAttempts}, {"successes", p.Successes}, {"exhausted",
			p.Exhausted},
		{"load failures", p.LoadFailures}, {"overload", p.Overload},
	} {
		if !(f.is >= 0) || math.IsInf(f.is, 0) {
			return fmt.Sprintf("has %v %s", f.is, f.name)
		}
	}
	switch {
	case p.Start.Truncate(Minute) != p.Start:
		return "does not begin with a minute"
	case p.Start.After(now):
		return "is in the future"
	case p.LoadFailures > p.Attempts || p.Overload > p.LoadFailures:
		return fmt.Sprintf("has a failure rate above 1: %v overloads and %v load failures of %v attempts", p.Overload,
			p.LoadFailures, p.Attempts)
	}
	return ""
}

// window returns the five minutes that end at least Age before now. before shifts it back by that many windows.
func (m *Measurement) window(before int) window {
	end := m.Now.Add(-Age).Truncate(Minute).Add(-time.Duration(before) * WindowSize * Minute)
	return m.between(end.Add(-WindowSize*Minute), end)
}

func (m *Measurement) between(from, to time.Time) window {
	var w window
	for _, p := range m.Points {
		if p.Start.Before(from) || p.Start.Add(Minute).After(to) {
			continue
		}
		w.points++
		w.Attempts += p.Attempts
		w.FirstAttempts += p.FirstAttempts
		w.Successes += p.Successes
		w.Exhausted += p.Exhausted
		w.LoadFailures += p.LoadFailures
		w.Overload += p.Overload
	}
	return w
}

// problem returns why the window does not support a decision; "" if it does.
func (w window) problem() string {
	switch {
	case w.points < leastPoints:
		return fmt.Sprintf("only %d of the last %d minutes were measured, %d are needed", w.points, WindowSize,
			leastPoints)
	case w.Attempts < leastCount:
		return fmt.Sprintf("only %.0f attempts in the last %d minutes, %d are needed", w.Attempts, WindowSize,
			leastCount)
	// An attempt may begin in one minute and end in another, so an excess of up to 10 % is tolerated.
	case w.Successes+w.LoadFailures > 1.1*w.Attempts:
		return fmt.Sprintf("the metrics are inconsistent: %.0f successes and %.0f load failures of %.0f attempts",
			w.Successes, w.LoadFailures, w.Attempts)
	}
	return ""
}

// failed is the share of attempts that failed with a load error; overloaded is the share with evidence of overload;
// done is the share of ended tasks that succeeded.
func (w window) failed() Share     { return Share{w.Attempts, w.LoadFailures} }
func (w window) overloaded() Share { return Share{w.Attempts, w.Overload} }
func (w window) done() Share       { return Share{w.Successes + w.Exhausted, w.Successes} }

// rate returns first attempts per second over the measured minutes.
func (w window) rate() float64 {
	if w.points == 0 {
		return 0
	}
	return w.FirstAttempts / (float64(w.points) * Minute.Seconds())
}

// Together makes one load of the measurements of states that call the same callee: each learns the first attempts of
// the others, and all have the largest capacity that was measured for one of them or, in one minute, for all together.
func Together(all []*Measurement) {
	rates, total := make([]float64, len(all)), 0.0
	minutes := map[int64]float64{}
	capacity := Capacity{}
	for i, m := range all {
		rates[i] = m.window(0).rate()
		total += rates[i]
		if m.Capacity.PerSecond > capacity.PerSecond {
			capacity.PerSecond = m.Capacity.PerSecond
		}
		capacity.Saturated = capacity.Saturated || m.Capacity.Saturated
		for _, p := range m.Points {
			minutes[p.Start.Unix()] += p.Successes
		}
	}
	for _, successes := range minutes {
		capacity.PerSecond = max(capacity.PerSecond, successes/Minute.Seconds())
	}
	for i, m := range all {
		m.Others = max(total-rates[i], 0)
		if len(all) > 1 {
			m.Capacity = capacity
		}
	}
}

// spell returns the length of the present run of bad minutes, counted back from the window's end. A minute is bad if
// at least the given share failed. Two consecutive unmeasured minutes end the run.
func (m *Measurement) spell(share float64) time.Duration {
	end := m.Now.Add(-Age).Truncate(Minute)
	bad := map[int64]bool{}
	for _, p := range m.Points {
		if p.Attempts > 0 {
			bad[p.Start.Unix()] = Share{p.Attempts, p.LoadFailures}.Rate() >= share
		}
	}
	begin, gap := end, 0
	for at := end.Add(-Minute); gap < 2 && end.Sub(at) <= 24*time.Hour; at = at.Add(-Minute) {
		is, measured := bad[at.Unix()]
		switch {
		case !measured:
			gap++
		case !is:
			return end.Sub(begin)
		default:
			begin, gap = at, 0
		}
	}
	return end.Sub(begin)
}
