package decide

import (
	"maps"
	"math"
	"slices"
	"time"

	"stepback/retry"
	"stepback/retrypatterns"
)

// AWS's limits for the values that the controller sets.
const (
	maxIntervalSeconds = 99_999_999
	maxDelaySeconds    = 31_622_399
	// MaxConcurrency is the maximum concurrency of a distributed Map.
	MaxConcurrency = 10_000
	// MaxStretch is the largest factor by which waits are stretched.
	MaxStretch = 8
	// Unlimited keeps the number of retries of the base.
	Unlimited = -1
)

// Setting describes how a state's Retry array differs from its base. [Base] returns the setting without
// differences.
type Setting struct {
	// Retries caps MaxAttempts of the retriers for load errors; Unlimited sets no cap.
	Retries int `json:"retries"`
	// Stretch multiplies IntervalSeconds and MaxDelaySeconds of the retriers for load errors; 1 to MaxStretch.
	Stretch float64 `json:"stretch"`
	// Pay caps MaxAttempts of individual retriers, by their first error name: retries beyond the cap do not pay.
	Pay map[string]int `json:"pay,omitempty"`
	// Source holds the steps of the source's rules; nil if the standard rules apply.
	Source *Steps `json:"source,omitempty"`
}

// Base returns the setting that leaves the table's Retry array unchanged.
func Base() Setting { return Setting{Retries: Unlimited, Stretch: 1} }

// Equal reports whether two settings are equal.
func (s Setting) Equal(o Setting) bool {
	return s.Retries == o.Retries && s.Stretch == o.Stretch && maps.Equal(s.Pay, o.Pay) &&
		(s.Source == nil) == (o.Source == nil) &&
		(s.Source == nil || *s.Source == *o.Source)
}

// within returns the setting with every value clamped to its range, because a stored setting may hold anything.
func (s Setting) within() Setting {
	s.Retries = max(s.Retries, Unlimited)
	if !(s.Stretch >= 1) {
		s.Stretch = 1
	}
	s.Stretch = min(s.Stretch, MaxStretch)
	pay := map[string]int{}
	for name, limit := range s.Pay {
		pay[name] = max(limit, 0)
	}
	if s.Pay = pay; len(pay) == 0 {
		s.Pay = nil
	}
	return s
}

// Apply returns a new Retry array with the setting applied. It changes only retriers for load errors and those
// named by R-pay. Retriers that never retry, and those that pace deferred work, stay as they are.
func (s Setting) Apply(base []retrypatterns.Retrier) []retrypatterns.Retrier {
	s = s.within()
	out := make([]retrypatterns.Retrier, len(base))
	for i, r := range base {
		r.ErrorEquals = slices.Clone(r.ErrorEquals)
		if limit, ok := s.Pay[first(r)]; ok && !paced(r) {
			r.MaxAttempts = min(r.MaxAttempts, limit)
		}
		if adjustable(r) {
			if s.Retries != Unlimited {
				r.MaxAttempts = min(r.MaxAttempts, s.Retries)
			}
			if s.Source != nil && r.MaxAttempts > 0 {
				r = s.Source.Apply(r)
			}
			r = stretched(r, s.Stretch)
		}
		if r.MaxAttempts == 0 {
			r.IntervalSeconds, r.BackoffRate, r.MaxDelaySeconds, r.JitterStrategy = 0, 0, 0, ""
		}
		out[i] = r
	}
	return out
}

func stretched(r retrypatterns.Retrier, factor float64) retrypatterns.Retrier {
	if factor <= 1 {
		return r
	}
	times := func(seconds, most int) int { return int(min(math.Ceil(float64(seconds)*factor), float64(most))) }
	r.IntervalSeconds = times(max(r.IntervalSeconds, 1), maxIntervalSeconds)
	if r.MaxDelaySeconds > 0 {
		r.MaxDelaySeconds = times(r.MaxDelaySeconds, maxDelaySeconds)
		r.IntervalSeconds = min(r.IntervalSeconds, r.MaxDelaySeconds-1)
	}
	return r
}

func first(r retrypatterns.Retrier) string {
	if len(r.ErrorEquals) == 0 {
		return ""
	}
	return r.ErrorEquals[0]
}

// paced reports whether a retrier brings deferred work back. Because of such a retrier a call can be refused
// safely, so no rule changes it.
func paced(r retrypatterns.Retrier) bool {
	return slices.ContainsFunc(r.ErrorEquals, retry.IsDeferral)
}

// adjustable reports whether R-cap and R-stretch may change a retrier.
func adjustable(r retrypatterns.Retrier) bool {
	return r.MaxAttempts > 0 && !paced(r) && slices.ContainsFunc(r.ErrorEquals, retry.IsLoadError)
}

// mostRetries returns the largest MaxAttempts of the adjustable retriers.
func mostRetries(base []retrypatterns.Retrier) int {
	most := 0
	for _, r := range base {
		if adjustable(r) {
			most = max(most, r.MaxAttempts)
		}
	}
	return most
}

// hasPaced reports whether a separate retrier brings deferred work back.
func hasPaced(base []retrypatterns.Retrier) bool {
	return slices.ContainsFunc(base, func(r retrypatterns.Retrier) bool { return r.MaxAttempts > 0 && paced(r) })
}

// meanWait returns the mean of a retrier's total wait. longest returns its maximum.
func meanWait(r retrypatterns.Retrier) time.Duration { return r.Policy().Schedule().Total.Mean }
func longest(r retrypatterns.Retrier) time.Duration  { return r.Policy().Schedule().Total.Max }
