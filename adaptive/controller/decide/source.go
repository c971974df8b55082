package decide

import (
	"fmt"
	"math"
	"time"

	"stepback/retry"
	"stepback/retrypatterns"
)

// Function is what the source's rules look at: an hour of a Lambda function. An unknown number is NaN and moves
// nothing; a missing error rate is not an error rate of 0.
type Function struct {
	// ErrorRate is errors ÷ invocations, 0 to 1.
	ErrorRate float64
	// Duration is the mean, 0 or less when it is not known.
	Duration time.Duration
	// Concurrent executions at most; Limit is what they may be, 0 when it is not known.
	Concurrent, Limit float64
}

// Steps are what the rules of the source's section 5.1 do to one retrier.
type Steps struct {
	// Fewer retries, though one is always left.
	Fewer int `json:"fewer,omitempty"`
	// Interval and MaxDelay multiply; 1 or more, and 0 is read as 1.
	Interval float64 `json:"interval,omitempty"`
	MaxDelay float64 `json:"maxDelay,omitempty"`
	// Rate is added to the backoff rate.
	Rate float64 `json:"rate,omitempty"`
	// Full makes the jitter FULL.
	Full bool `json:"full,omitempty"`
	// Failing and Load are the failure rate and the load factor by which [AdaptiveDelay] stretches the interval, in
	// steps of 0.2 and 0.1; 0 stretches nothing. An interval never becomes shorter.
	Failing float64 `json:"failing,omitempty"`
	Load    float64 `json:"load,omitempty"`
}

// StepsFor are the rules of section 5.1 of the source design, with its numbers: an error rate above 20 % takes two
// retries and doubles the interval, one above 10 % takes one; a mean duration above 10 s makes interval and cap half
// as long again; more than 50 concurrent executions add 0.5 to the rate and make the jitter FULL.
//
// Cutting retries by the error rate alone gives up records for errors that have nothing to do with load, see the
// decision page; the standard rules do not.
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

// within takes stored steps into the range that [StepsFor] has.
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

// adapted are the steps with the source's adaptive delay, which moves nothing by itself: the hour of the day is no
// reason to change a definition.
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

// Apply does the steps to one retrier that retries.
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
		// AWS wants the interval below the cap.
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

// source wants what the source's rules say.
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
		return // R-restore goes back
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

// delay says what the adaptive delay does beside the rules.
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

// strictness orders steps, so that a change goes to stricter ones until everything is restored.
func (s Steps) strictness() float64 {
	return 10*float64(s.Fewer) + s.Interval + s.MaxDelay + s.Rate + s.Failing + s.Load/10
}

// AdaptiveDelay is the source's adaptive back-off (M4, section 4.1): a failure rate of the last 15 minutes above a
// half stretches a delay by as much again, the load factor multiplies it, and ten minutes cap it. A rate or factor
// that is no number, or a factor below 0, changes nothing.
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

// Hours is a load factor by hour of the day, as the source has it, for callees whose load is not measured.
type Hours struct {
	// Factors by hour, 0 to 23.
	Factors [24]float64
	// Location is the time zone of the hours; UTC when nil.
	Location *time.Location
}

// SourceHours is the source's table: 1.5 from 9 to 17 o'clock, 0.8 from midnight to 6, and 1 otherwise.
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

// LoadFactor is how much longer to wait by load: 0.8 for an idle callee to 1.5 for one at its limit, where the load is
// measured as concurrency against its limit; else by the hour, 0 for an hour that has no factor.
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
