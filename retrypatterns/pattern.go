package retrypatterns

import (
	"slices"
	"time"
)

// PatternName names a retry pattern: one of the source's four, or Paced.
type PatternName string

// The four patterns of the retry design.
const (
	Aggressive        PatternName = "aggressive"
	Conservative      PatternName = "conservative"
	Minimal           PatternName = "minimal"
	DatabaseOptimized PatternName = "database_optimized"
)

// Paced is the pattern for work that was deferred on purpose: a circuit breaker, a limiter or a retry budget refused
// the call, and the work is retried later, gradually. It is an addition to the source's four patterns, with long,
// fully randomised waits that cover more than 40 minutes of outage on average.
const Paced PatternName = "paced"

// pacedAttempts is the number of retries of deferred work: forty minutes on average.
const pacedAttempts = 20

// Pattern is a policy with a name and the kind of error it is meant for.
type Pattern struct {
	Name   PatternName
	Use    string
	Policy Policy
}

// patterns holds the source's exact numbers, and Paced: initial interval, backoff rate, maximum delay, maximum number
// of retries, jitter strategy.
var patterns = []Pattern{
	{Aggressive, "temporary errors", seconds(1, 2.0, 60, 5, JitterFull)},
	{Conservative, "resource limits", seconds(5, 2.5, 300, 3, JitterPartial)},
	{Minimal, "configuration errors", seconds(2, 1.5, 10, 2, JitterNone)},
	{DatabaseOptimized, "database connections", seconds(2, 1.8, 30, 4, JitterFull)},
	{Paced, "work deferred on purpose", seconds(30, 1.5, 300, pacedAttempts, JitterFull)},
}

// seconds builds a policy from values in the units and the order of the source's tables.
func seconds(interval int, rate float64, maxDelay, maxAttempts int, jitter Jitter) Policy {
	return Policy{
		Interval:    time.Duration(interval) * time.Second,
		Rate:        rate,
		MaxDelay:    time.Duration(maxDelay) * time.Second,
		MaxAttempts: maxAttempts,
		Jitter:      jitter,
	}
}

// Patterns returns the source's four patterns in its order, and Paced. The slice is a copy.
func Patterns() []Pattern { return slices.Clone(patterns) }

// PatternNamed returns the pattern with a name; ok is false if there is none.
func PatternNamed(name PatternName) (Pattern, bool) {
	i := slices.IndexFunc(patterns, func(p Pattern) bool { return p.Name == name })
	if i < 0 {
		return Pattern{}, false
	}
	return patterns[i], true
}

// String returns text such as "aggressive (temporary errors): 5 retries, 1s ×2 up to 1m0s, jitter FULL".
func (p Pattern) String() string { return string(p.Name) + " (" + p.Use + "): " + p.Policy.String() }
