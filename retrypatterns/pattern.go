package retrypatterns

import (
	"slices"

	"stepback/retry"
)

// PatternName names a retry pattern: one of the source's four, Paced, or Brief.
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

// Brief is the pattern for work that a limiter refused although the callee keeps up with most of it: room is found
// within seconds. A function that is still refused afterwards should fail with an error of the pattern Paced.
const Brief PatternName = "brief"

// Pattern is a policy with a name and the kind of error it is meant for.
type Pattern struct {
	Name   PatternName
	Use    string
	Policy retry.Policy
}

// patterns contains the source's patterns with their exact numbers, Paced and Brief. The numbers are the initial
// interval, backoff rate, maximum delay, maximum number of retries, and jitter strategy.
var patterns = []Pattern{
	{Aggressive, "temporary errors", retry.Seconds(1, 2.0, 60, 5, retry.JitterFull)},
	{Conservative, "resource limits", retry.Seconds(5, 2.5, 300, 3, retry.JitterPartial)},
	{Minimal, "configuration errors", retry.Seconds(2, 1.5, 10, 2, retry.JitterNone)},
	{DatabaseOptimized, "database connections", retry.Seconds(2, 1.8, 30, 4, retry.JitterFull)},
	{Paced, "work deferred on purpose", retry.Seconds(30, 1.5, 300, 20, retry.JitterFull)},
	{Brief, "work deferred for a moment", retry.Seconds(3, 2.0, 6, 2, retry.JitterFull)},
}

// Patterns returns the source's four patterns in its order, Paced and Brief. The slice is a copy.
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
