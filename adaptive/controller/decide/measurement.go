package decide

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Point is what one minute measured of the tasks of one state. All counts are 0 or more.
type Point struct {
	// Start is the beginning of the minute.
	Start time.Time
	// Attempts of tasks; FirstAttempts of them are no retries.
	Attempts, FirstAttempts float64
	// Successes are attempts that ended well, Exhausted those that failed and were not followed by another.
	Successes, Exhausted float64
	// LoadFailures are attempts that failed by an error of the load type: timeouts, throttles, server errors, lost
	// connections.
	LoadFailures float64
	// Overload are the load failures that are evidence of too much load: timeouts, throttles and rejections.
	Overload float64
}

// Capacity is what a callee can serve.
type Capacity struct {
	// PerSecond are calls served well in a second; 0 when nothing is known.
	PerSecond float64
	// Saturated tells that the callee cannot do more: somebody configured the number, or it was measured under
	// overload. A callee that was never saturated only showed what it was asked for.
	Saturated bool
}

// Recovery is how often one retry of one retrier recovered.
type Recovery struct {
	// Error is the first error name of the retrier, Retry the number of the retry, from 1.
	Error string
	Retry int
	// Started retries and how many of them Succeeded; both effective numbers, with retries of one outage counted once.
	Started, Succeeded float64
	// Value of a success and Cost of the retry, in USD.
	Value, Cost float64
}

// MapRun is a distributed Map that is running now.
type MapRun struct {
	// ARN names it.
	ARN string `json:"arn"`
	// Concurrency is its MaxConcurrency now, Base what it began with; both 1 to 10,000.
	Concurrency int `json:"concurrency"`
	Base        int `json:"base"`
}

// Measurement is all that is known of one state at one time.
type Measurement struct {
	// Now is when it was taken.
	Now time.Time
	// Points are minutes of the last day at most, in any order.
	Points []Point
	// Capacity is the callee's.
	Capacity Capacity
	// CallTime is how long a call of the callee takes when it is well, 0 when it is not known; CallTimeout is when its
	// callers give up.
	CallTime, CallTimeout time.Duration
	// Recoveries are those of the last days, for R-pay.
	Recoveries []Recovery
	// MapRun is the Map Run that calls the callee now; nil for an open stream.
	MapRun *MapRun
	// Function is what the source's rules look at; nil when it was not measured.
	Function *Function
}

// The window of a decision: five closed minutes that are at least two minutes old, as metrics come late.
const (
	Minute      = time.Minute
	WindowSize  = 5
	Age         = 2 * time.Minute
	leastPoints = 3
	leastCount  = 100
)

// window is the sum of the points of five minutes.
type window struct {
	points int
	Point
}

// problem says what makes a measurement unusable, or nothing.
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
	if r := m.MapRun; r != nil &&
		(r.Concurrency < 1 || r.Base < 1 || r.Concurrency > MaxConcurrency || r.Base > MaxConcurrency) {
		return fmt.Sprintf("the Map Run's concurrency is %d of %d; it must be between 1 and %d", r.Concurrency, r.Base,
			MaxConcurrency)
	}
	return ""
}

// problem says what no minute can have measured.
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

// window is that of the five minutes that end at least Age before now, less so many windows before it.
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

// problem says why a window is no ground for a decision, or nothing.
func (w window) problem() string {
	switch {
	case w.points < leastPoints:
		return fmt.Sprintf("only %d of the last %d minutes were measured, %d are needed", w.points, WindowSize,
			leastPoints)
	case w.Attempts < leastCount:
		return fmt.Sprintf("only %.0f attempts in the last %d minutes, %d are needed", w.Attempts, WindowSize,
			leastCount)
	// An attempt may begin in one minute and end in another; ten of a hundred are forgiven.
	case w.Successes+w.LoadFailures > 1.1*w.Attempts:
		return fmt.Sprintf("the metrics contradict one another: %.0f successes and %.0f load failures of %.0f attempts",
			w.Successes, w.LoadFailures, w.Attempts)
	}
	return ""
}

// failed is the share of attempts that failed by an error of the load type; overloaded the share with evidence of
// overload; done the share of tasks that ended well of those that ended.
func (w window) failed() Share     { return Share{w.Attempts, w.LoadFailures} }
func (w window) overloaded() Share { return Share{w.Attempts, w.Overload} }
func (w window) done() Share       { return Share{w.Successes + w.Exhausted, w.Successes} }

// rate is first attempts a second, over the minutes that were measured.
func (w window) rate() float64 {
	if w.points == 0 {
		return 0
	}
	return w.FirstAttempts / (float64(w.points) * Minute.Seconds())
}

// spell is how long the present run of bad minutes lasts, back from the window's end: minutes of which at least the
// share failed. Two minutes in a row that were not measured end it.
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
