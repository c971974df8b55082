package resilience

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// Statistics holds an executor's counts since it was created.
type Statistics struct {
	// Calls counts calls that have ended. It is the sum of Successes and Failures.
	Calls, Successes, Failures int64
	// Attempts counts how often the operation was started, including hedges.
	Attempts int64
	// Retries counts attempts after a failed one; RetriedSuccesses counts calls that succeeded by a retry.
	Retries, RetriedSuccesses int64
	// Hedges counts operations that were started in parallel to a slow one.
	Hedges int64
	// Fallbacks counts calls whose fallback was used.
	Fallbacks int64
	// Refused counts calls and retries that were given up, by the reason's text (such as "the circuit is open").
	Refused map[string]int64
	// RetriesByError counts retries by the error's name in the table.
	RetriesByError map[string]int64
	// TypicalAttempt is the smoothed duration of successful attempts; 0 before the first.
	TypicalAttempt time.Duration
}

// RetryRate returns the share of attempts that were retries; 0 without attempts.
func (s Statistics) RetryRate() float64 { return ratio(s.Retries, s.Attempts) }

// SuccessRate returns the share of calls that succeeded; 0 without calls.
func (s Statistics) SuccessRate() float64 { return ratio(s.Successes, s.Calls) }

// RetrySuccessRate returns the share of successes among the calls that were retried successfully or failed. It is 0
// if there are none.
func (s Statistics) RetrySuccessRate() float64 {
	return ratio(s.RetriedSuccesses, s.RetriedSuccesses+s.Failures)
}

// MeanAttempts returns the attempts per call; 0 without calls.
func (s Statistics) MeanAttempts() float64 { return ratio(s.Attempts, s.Calls) }

func ratio(part, all int64) float64 {
	if all == 0 {
		return 0
	}
	return float64(part) / float64(all)
}

type counters struct {
	firstTime        atomic.Int64 // calls that succeeded with a single attempt
	retriedSuccesses atomic.Int64
	failures         atomic.Int64
	attempts         atomic.Int64 // of all calls except those in firstTime
	retries          atomic.Int64
	hedges           atomic.Int64
	fallbacks        atomic.Int64

	mu      sync.Mutex
	refused map[string]int64
	byError map[string]int64
}

func (c *counters) retry(name string) {
	c.retries.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byError == nil {
		c.byError = map[string]int64{}
	}
	c.byError[name]++
}

func (c *counters) refuse(reason error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refused == nil {
		c.refused = map[string]int64{}
	}
	c.refused[reason.Error()]++
}

// Statistics returns the counts. Calls in progress may be counted in part.
func (e *Executor) Statistics() Statistics {
	c := &e.counts
	first, retried, failed := c.firstTime.Load(), c.retriedSuccesses.Load(), c.failures.Load()
	c.mu.Lock()
	defer c.mu.Unlock()
	return Statistics{
		Calls: first + retried + failed, Successes: first + retried, Failures: failed,
		Attempts: first + c.attempts.Load(), Retries: c.retries.Load(), RetriedSuccesses: retried,
		Hedges: c.hedges.Load(), Fallbacks: c.fallbacks.Load(),
		Refused: maps.Clone(c.refused), RetriesByError: maps.Clone(c.byError),
		TypicalAttempt: time.Duration(e.typical.Load()),
	}
}
