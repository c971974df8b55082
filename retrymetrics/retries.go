// Package retrymetrics declares every retry metric, once, and counts them from execution histories. Only histories
// show all retries, because a throttled or timed-out invocation never reaches the function's own code. The same code
// counts the events of running executions ([Live]), whole histories ([Collector.Add]) and the records that Step
// Functions writes to CloudWatch Logs ([LogReader]). The package reads, counts and encodes; it never waits, retries,
// publishes, or reads a clock.
package retrymetrics

//go:generate go test . -run TestDocsAreCurrent -update

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"stepback/engine/history"
)

// Key is the state and the error by which retries are counted.
type Key struct {
	State string // the state that failed
	Error string // the name of its error
}

// Tally counts the failures and retries of one key. Every failure is followed by exactly one of five things, and
// every retry ends in exactly one of three:
//
//	Failures = Retries + Exhausted + NotRetried + Interrupted + Waiting
//	Retries  = Recovered + FailedAgain + Unfinished
//
// A retry counts under the failure that it follows: one that fails with another error counts as FailedAgain here, and
// as a failure under the other error's key.
type Tally struct {
	Key
	// Failures is the number of attempts that failed with this error.
	Failures int64
	// Retries is the number of failures that were followed by another attempt.
	Retries int64
	// Exhausted is the number of failures after which a task was given up although it had been retried. NotRetried
	// is the number of failures after which a task was given up without a retry. Interrupted is the number of
	// failures that were neither retried nor given up, because the execution ended. Waiting is the number of failures
	// in running executions that nothing has followed yet: their retries are still to come, or will be given up.
	Exhausted, NotRetried, Interrupted, Waiting int64
	// Recovered is the number of retries that succeeded, FailedAgain the number that failed, with any error, and
	// Unfinished the number that are running, or were running when the execution ended.
	Recovered, FailedAgain, Unfinished int64
	// Waited is the sum of the delays before the retries, according to the timestamps. If tasks wait at the same
	// time, each wait counts in full.
	Waited time.Duration
}

// Attempts counts all attempts by outcome: Started = Succeeded + Failed + Unfinished.
type Attempts struct {
	Started, Succeeded, Failed int64
	Unfinished                 int64 // running, or running when their execution ended
}

// Counter counts the retries of executions: from their histories with Add, or at the time they happen as a [Target].
// The zero value is ready to use; it is safe for concurrent use.
type Counter struct {
	mu    sync.Mutex
	found found
}

// Add counts the whole history of one execution, which may still be running.
func (c *Counter) Add(events []history.Event) { whole("", events, c) }

// begin implements Target.
func (c *Counter) begin(string) sink { return &tallies{counter: c} }

// Tallies returns the counts by state and error name.
func (c *Counter) Tallies() []Tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Tally, 0, len(c.found.by))
	for _, t := range c.found.by {
		one := *t
		one.Unfinished = one.Retries - one.Recovered - one.FailedAgain
		one.Waiting = one.Failures - one.Retries - one.Exhausted - one.NotRetried - one.Interrupted
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b Tally) int {
		return cmp.Or(cmp.Compare(a.State, b.State), cmp.Compare(a.Error, b.Error))
	})
	return out
}

// Attempts returns the number of attempts by outcome.
func (c *Counter) Attempts() Attempts {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.found.attempts
	a.Unfinished = a.Started - a.Succeeded - a.Failed
	return a
}

// found holds counts by key.
type found struct {
	by       map[Key]*Tally
	attempts Attempts
}

func (f *found) of(k Key) *Tally {
	if f.by == nil {
		f.by = map[Key]*Tally{}
	}
	t := f.by[k]
	if t == nil {
		t = &Tally{Key: k}
		f.by[k] = t
	}
	return t
}

// tallies is the sink that a Counter uses.
type tallies struct {
	found
	counter *Counter
}

func (s *tallies) inTime(bool, int64) {}

// flush implements sink.
func (s *tallies) flush() {
	if s.attempts == (Attempts{}) && len(s.by) == 0 {
		return
	}
	c := s.counter
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found.attempts.Started += s.attempts.Started
	c.found.attempts.Succeeded += s.attempts.Succeeded
	c.found.attempts.Failed += s.attempts.Failed
	for key, t := range s.by {
		total := c.found.of(key)
		total.Failures += t.Failures
		total.Retries += t.Retries
		total.Exhausted += t.Exhausted
		total.NotRetried += t.NotRetried
		total.Interrupted += t.Interrupted
		total.Recovered += t.Recovered
		total.FailedAgain += t.FailedAgain
		total.Waited += t.Waited
	}
	clear(s.by)
	s.attempts = Attempts{}
}

func (s *tallies) attempted(*history.Attempt, int64)     { s.attempts.Started++ }
func (s *tallies) succeeded(*history.Attempt, int64)     { s.attempts.Succeeded++ }
func (s *tallies) recovered(a *history.Attempt, _ int64) { s.of(before(a)).Recovered++ }
func (s *tallies) terminal(history.Type, string, int64)  {}
func (s *tallies) failed(a *history.Attempt, _ int64) {
	s.attempts.Failed++
	s.of(keyOf(a)).Failures++
	if a.Retry() {
		s.of(before(a)).FailedAgain++
	}
}

func (s *tallies) ended(a *history.Attempt, cut bool, _ int64) {
	t := s.of(keyOf(a))
	switch {
	case cut:
		t.Interrupted++
	case a.Retry():
		t.Exhausted++
	default:
		t.NotRetried++
	}
}

func (s *tallies) retried(a *history.Attempt, _ int64) {
	t := s.of(before(a))
	t.Retries++
	t.Waited += a.Wait()
}

// keyOf returns the key under which a failed attempt is counted. before returns the key of the failure that an attempt
// retries.
func keyOf(a *history.Attempt) Key  { return Key{a.State, a.Failure.Name} }
func before(a *history.Attempt) Key { return Key{a.State, a.RetryOf.Error} }
