package decide

import (
	"fmt"
	"math"
	"time"

	"stepback/retry"
	"stepback/retrypatterns"
)

// Function holds an hour's measurements of a Lambda function, the input of the source's rules. An unknown number is
// NaN and changes nothing; a missing error rate does not count as 0.
type Function struct {
	// ErrorRate is errors ÷ invocations, 0 to 1.
	ErrorRate float64
	// Duration is the mean duration, 0 or less if unknown.
	Duration time.Duration
	// Concurrent is the maximum number of concurrent executions that was measured. Limit is the number allowed; 0
	// if unknown.
	Concurrent, Limit float64
}

// Steps are the changes that the rules of the source's section 5.1 make to one retrier.
type Steps struct {
	// Fewer is the number of retries removed; at least one retry always remains.
	Fewer int `json:"fewer,omitempty"`
	// Interval and MaxDelay multiply IntervalSeconds and MaxDelaySeconds. Both are 1 or more; 0 is read as 1.
	Interval float64 `json:"interval,omitempty"`
	MaxDelay float64 `json:"maxDelay,omitempty"`
	// Rate is added to the backoff rate.
	Rate float64 `json:"rate,omitempty"`
	// Full sets the jitter to FULL.
	Full bool `json:"full,omitempty"`
	// Failing is the failure rate, and Load the load factor, by which [AdaptiveDelay] stretches the interval. They
	// are rounded to steps of 0.2 and 0.1. 0 stretches nothing, and an interval never becomes shorter.
	Failing float64 `json:"failing,omitempty"`
	Load    float64 `json:"load,omitempty"`
}

// StepsFor returns the steps by the rules of section 5.1 of the source design, with its numbers. An error rate
// above 20 % removes two retries and doubles the interval; one above 10 % removes one retry. A mean duration above
// 10 s multiplies interval and cap by 1.5. More than 50 concurrent executions add 0.5 to the rate and set the
// jitter to FULL.
//
// The source's rules cut retries by the error rate alone. They therefore give up records whose errors have nothing
// to do with load, see the decision page. The standard rules do not.
func StepsFor(f Function) Steps {
	s := Steps{Interval: 1, MaxDelay: 1}
	switch {
	case f.ErrorRate > 0.2 && f.ErrorRate <= 1:
		s.Fewer, s.Interval = 2, 2
	case f.ErrorRate > 0.1 && f.ErrorRate <= 1:
		s.Fewer = 1
	}
	if f.Duration > 10*time.Second {
		s.Interval *= 1.5
		s.MaxDelay = 1.5
	}
	if f.Concurrent > 50 && !math.IsInf(f.Concurrent, 0) {
		s.Rate, s.Full = 0.5, true
	}
	return s
}

// none reports whether the steps change nothing.
func (s Steps) none() bool {
	return s.Fewer == 0 && s.Interval <= 1 && s.MaxDelay <= 1 && s.Rate == 0 && !s.Full
}

// within clamps stored steps to the range of [StepsFor].
func (s Steps) within() Steps {
	factor := func(f, most float64) float64 {
		if !(f >= 1) {
			return 1
		}
		return min(f, most)
	}
	rate := 0.0
	if s.Rate > 0 {
		rate = 0.5
	}
	failing, load := 0.0, 0.0
	if s.Failing > 0.5 {
		failing = min(s.Failing, 1)
	}
	if s.Load > 0 {
		load = min(s.Load, longestLoad)
	}
	return Steps{min(max(s.Fewer, 0), 2), factor(s.Interval, 3), factor(s.MaxDelay, 1.5), rate, s.Full, failing, load}
}

// longestLoad is the largest load factor.
const longestLoad = 1.5

// adapted returns the steps with the source's adaptive delay added. The delay causes no change by itself, because
// the hour of the day is no reason to change a definition.
func (s Steps) adapted(f Function, now time.Time, hours *Hours) Steps {
	if f.ErrorRate > 0.5 {
		s.Failing = math.Ceil(5*f.ErrorRate) / 5
	}
	if hours == nil {
		hours = &Hours{}
	}
	if factor := LoadFactor(&f, now, *hours); factor > 0 {
		s.Load = math.Ceil(10*factor) / 10
	}
	return s
}

// Apply applies the steps to one retrier, whose MaxAttempts must not be 0.
func (s Steps) Apply(r retrypatterns.Retrier) retrypatterns.Retrier {
	s = s.within()
	r.MaxAttempts = max(1, r.MaxAttempts-s.Fewer)
	times := func(seconds int, factor float64, most int) int {
		return int(min(math.Ceil(float64(seconds)*factor), float64(most)))
	}
	base := max(r.IntervalSeconds, 1)
	r.IntervalSeconds = times(base, s.Interval, maxIntervalSeconds)
	if s.Failing > 0 || s.Load > 0 {
		delay := time.Duration(min(r.IntervalSeconds, maxDelaySeconds)) * time.Second
		load := s.Load
		if load == 0 {
			load = 1
		}
		r.IntervalSeconds = max(base, int(math.Ceil(AdaptiveDelay(delay, s.Failing, load).Seconds())))
	}
	if r.MaxDelaySeconds > 0 {
		r.MaxDelaySeconds = times(r.MaxDelaySeconds, s.MaxDelay, maxDelaySeconds)
		// AWS requires the interval to be below the cap.
		r.IntervalSeconds = min(r.IntervalSeconds, r.MaxDelaySeconds-1)
	}
	if s.Rate > 0 {
		r.BackoffRate = max(r.BackoffRate, 1) + s.Rate
	}
	if s.Full {
		r.JitterStrategy = retry.JitterFull
	}
	return r
}

// source applies the source's rules to the wanted setting.
func (n *next) source() {
	if n.m.Function == nil {
		n.d.because("5.1", "the function was not measured: no change")
		return
	}
	f := *n.m.Function
	if math.IsNaN(f.ErrorRate) || f.ErrorRate < 0 || f.ErrorRate > 1 {
		n.d.because("5.1", "the function's error rate is %v: no change", f.ErrorRate)
		return
	}
	steps := StepsFor(f)
	if steps.none() {
		return // R-restore reverts it
	}
	steps = steps.adapted(f, n.now, n.Hours)
	if have := n.want.Source; have != nil && have.strictness() >= steps.strictness() {
		return
	}
	n.want.Source = &steps
	n.d.because("5.1",
		"error rate %.0f %%, mean duration %s, %.0f concurrent: %d retries fewer, interval × %g, cap × %g, rate + %g%s",
		100*f.ErrorRate, f.Duration, f.Concurrent, steps.Fewer, steps.Interval, steps.MaxDelay, steps.Rate,
		steps.delay())
}

// delay describes how the adaptive delay adds to the rules.
func (s Steps) delay() string {
	var text string
	if s.Failing > 0 {
		text = fmt.Sprintf(", delays × %.2g for the failure rate", 1+s.Failing)
	}
	if s.Load > 0 {
		text += fmt.Sprintf(", × %g for the load", s.Load)
	}
	return text
}

// strictness ranks steps. Until everything is restored, steps only change to stricter ones.
func (s Steps) strictness() float64 {
	return 10*float64(s.Fewer) + s.Interval + s.MaxDelay + s.Rate + s.Failing + s.Load/10
}

// AdaptiveDelay implements the source's adaptive back-off (M4, section 4.1): a failure rate above one half in the
// last 15 minutes multiplies the delay by 1 + the rate, the load factor multiplies it again, and ten minutes cap it.
// A rate or factor that is NaN, or a factor below 0, changes nothing.
func AdaptiveDelay(delay time.Duration, failureRate, loadFactor float64) time.Duration {
	d := float64(max(delay, 0))
	if failureRate > 0.5 && failureRate <= 1 {
		d *= 1 + failureRate
	}
	if loadFactor >= 0 {
		d *= loadFactor
	}
	const most = 10 * time.Minute
	if d >= float64(most) {
		return most
	}
	return time.Duration(d)
}

// Hours holds a load factor by hour of the day, as in the source design, for callees whose load is not measured.
type Hours struct {
	// Factors holds the factors by hour, 0 to 23.
	Factors [24]float64
	// Location is the time zone of the hours; UTC if nil.
	Location *time.Location
}

// SourceHours returns the source's table: 1.5 from 9 to 17 o'clock, 0.8 from midnight to 6, and 1 otherwise.
func SourceHours(location *time.Location) Hours {
	h := Hours{Location: location}
	for hour := range h.Factors {
		switch {
		case hour >= 9 && hour <= 17:
			h.Factors[hour] = 1.5
		case hour <= 6:
			h.Factors[hour] = 0.8
		default:
			h.Factors[hour] = 1
		}
	}
	return h
}

// LoadFactor returns the factor by which load lengthens waits. If f has a measured concurrency and a limit, the
// factor ranges from 0.8 for an idle callee to 1.5 for one at its limit. Otherwise it is the hour's factor in
// fallback, or 0 if the hour has none.
func LoadFactor(f *Function, now time.Time, fallback Hours) float64 {
	if f != nil && f.Limit > 0 && f.Concurrent >= 0 {
		return 0.8 + 0.7*min(f.Concurrent/f.Limit, 1)
	}
	location := fallback.Location
	if location == nil {
		location = time.UTC
	}
	return fallback.Factors[now.In(location).Hour()]
}
