// Package retrymetrics declares every metric of the retries, once, and counts them from execution histories, which is
// the only place that shows all retries: a throttled or timed out invocation never reaches the function's own code. The
// same counting works on a whole history ([Collector.Add]) and on the records that Step Functions writes to CloudWatch
// Logs ([LogReader]). The package reads, counts and encodes; it never waits, retries, publishes, or reads a clock.
package retrymetrics

//go:generate go test . -run TestDocsAreCurrent -update

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"stepback/engine/history"
)

// Key is what retries are counted by.
type Key struct {
	State string // the state that failed
	Error string // the error name it failed with
}

// Tally is what happened under one key.
type Tally struct {
	Key
	// Failures is how often the state failed with this error, Retries how many of those failures were followed by
	// another attempt, and Exhausted how many were not.
	Failures, Retries, Exhausted int64
	// Recovered is how many of the retries succeeded at once, without a further failure.
	Recovered int64
	// Waited is the sum of the delays before the retries, as the timestamps show them.
	Waited time.Duration
}

// Counter adds up histories. The zero value is ready; it is safe for concurrent use.
type Counter struct {
	mu      sync.Mutex
	tallies tallies
	worked  time.Duration
	tasks   int64
}

// Add counts one execution's whole history.
func (c *Counter) Add(events []history.Event) {
	var found tallies
	one := scan{sink: &found}
	one.run(events)
	if one.tasks == 0 && len(found) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.worked += one.worked
	c.tasks += one.tasks
	for key, t := range found {
		total := c.tallies.of(key)
		total.Failures += t.Failures
		total.Retries += t.Retries
		total.Exhausted += t.Exhausted
		total.Recovered += t.Recovered
		total.Waited += t.Waited
	}
}

// Tallies returns what has been counted, by state and error name.
func (c *Counter) Tallies() []Tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Tally, 0, len(c.tallies))
	for _, t := range c.tallies {
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b Tally) int {
		return cmp.Or(cmp.Compare(a.State, b.State), cmp.Compare(a.Error, b.Error))
	})
	return out
}

// Worked returns how long tasks ran in all, and how many attempts there were.
func (c *Counter) Worked() (time.Duration, int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.worked, c.tasks
}

// tallies is the sink of a Counter.
type tallies map[Key]*Tally

func (s *tallies) of(k Key) *Tally {
	if *s == nil {
		*s = tallies{}
	}
	t := (*s)[k]
	if t == nil {
		t = &Tally{Key: k}
		(*s)[k] = t
	}
	return t
}

func (s *tallies) attempted(string, int64) {}
func (s *tallies) succeeded(string, int64) {}
func (s *tallies) failed(f failure)        { s.of(f.key).Failures++ }
func (s *tallies) recovered(k Key, _ int64) {
	s.of(k).Recovered++
}
func (s *tallies) ended(f failure) { s.of(f.key).Exhausted++ }
func (s *tallies) retried(f failure, at int64) {
	t := s.of(f.key)
	t.Retries++
	t.Waited += time.Duration(at - f.at)
}
