// Package retrymetrics declares every metric of the retries, once, and counts them from execution histories, which is
// the only place that shows all retries: a throttled or timed out invocation never reaches the function's own code. The
// same counting works on a whole history ([Collector.Add]) and on the records that Step Functions writes to CloudWatch
// Logs ([LogReader]). The package reads, counts and encodes; it never waits, retries, publishes, or reads a clock.
package retrymetrics

//go:generate go test . -run TestDocsAreCurrent -update

import (
	"cmp"
	"sync"
	"time"

	"stepback/engine/history"
	"stepback/internal/sorting"
)

// Key is what retries are counted by.
type Key struct {
	State string // the state that failed
	Error string // the error name it failed with
}

// Tally is what happened under one key, an execution's state and error. Every failure is followed by exactly one of
// four things, and every retry ends in exactly one of three:
//
//	Failures = Retries + Exhausted + NotRetried + Interrupted
//	Retries  = Recovered + FailedAgain + Unfinished
//
// A retry counts under the failure that it follows: one that fails with another error is FailedAgain here, and a
// failure under the other error's key.
type Tally struct {
	Key
	// Failures is how many attempts failed with this error.
	Failures int64
	// Retries is how many of the failures were followed by another attempt.
	Retries int64
	// Exhausted is how many were given up after at least one retry of the task, NotRetried how many at the task's first
	// attempt, and Interrupted how many the execution's end kept from being retried or given up.
	Exhausted, NotRetried, Interrupted int64
	// Recovered is how many of the retries succeeded, FailedAgain how many failed, with whatever error, and Unfinished
	// how many were under way when the execution ended.
	Recovered, FailedAgain, Unfinished int64
	// Waited is the sum of the delays before the retries, as the timestamps show them. Tasks that wait at the same time
	// each count in full.
	Waited time.Duration
}

// Attempts is what became of all attempts: Started = Succeeded + Failed + Unfinished.
type Attempts struct {
	Started, Succeeded, Failed int64
	Unfinished                 int64 // under way when their execution ended
}

// Counter adds up histories of executions that have ended. The zero value is ready; it is safe for concurrent use.
type Counter struct {
	mu    sync.Mutex
	found tallies
}

// Add counts one execution's whole history.
func (c *Counter) Add(events []history.Event) {
	var found tallies
	one := scan{sink: &found}
	one.run(events)
	if found.attempts == (Attempts{}) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found.attempts.Started += found.attempts.Started
	c.found.attempts.Succeeded += found.attempts.Succeeded
	c.found.attempts.Failed += found.attempts.Failed
	for key, t := range found.by {
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
}

// Tallies returns what has been counted, by state and error name.
func (c *Counter) Tallies() []Tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Tally, 0, len(c.found.by))
	for _, t := range c.found.by {
		one := *t
		one.Unfinished = one.Retries - one.Recovered - one.FailedAgain
		out = append(out, one)
	}
	sorting.Func(out, func(a, b Tally) int {
		return cmp.Or(cmp.Compare(a.State, b.State), cmp.Compare(a.Error, b.Error))
	})
	return out
}

// Attempts returns what became of all attempts.
func (c *Counter) Attempts() Attempts {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.found.attempts
	a.Unfinished = a.Started - a.Succeeded - a.Failed
	return a
}

// tallies is the sink of a Counter.
type tallies struct {
	by       map[Key]*Tally
	attempts Attempts
}

func (s *tallies) of(k Key) *Tally {
	if s.by == nil {
		s.by = map[Key]*Tally{}
	}
	t := s.by[k]
	if t == nil {
		t = &Tally{Key: k}
		s.by[k] = t
	}
	return t
}

func (s *tallies) attempted(string, int64)      { s.attempts.Started++ }
func (s *tallies) succeeded(string, int64, int) { s.attempts.Succeeded++ }
func (s *tallies) recovered(k Key, _ int64)     { s.of(k).Recovered++ }
func (s *tallies) failed(f failure) {
	s.attempts.Failed++
	s.of(f.key).Failures++
	if f.after != nil {
		s.of(*f.after).FailedAgain++
	}
}
func (s *tallies) ended(f failure) {
	t := s.of(f.key)
	switch {
	case f.cut:
		t.Interrupted++
	case f.after != nil:
		t.Exhausted++
	default:
		t.NotRetried++
	}
}
func (s *tallies) retried(f failure, at int64) {
	t := s.of(f.key)
	t.Retries++
	t.Waited += time.Duration(at - f.at)
}
