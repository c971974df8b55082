// Package retrymetrics counts retries from execution histories, which is the only place that shows all of them: a throttled or
// timed out invocation never reaches the function's own code. It reads histories and counts; it never waits, retries or
// publishes anything itself.
package retrymetrics

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
	// Failures is how often the state failed with this error, Retries how many of those failures were followed by another
	// attempt, and Exhausted how many were not.
	Failures, Retries, Exhausted int64
	// Recovered is how many of the retries succeeded at once, without a further failure.
	Recovered int64
	// Waited is the sum of the delays before the retries, as the timestamps show them.
	Waited time.Duration
}

// Counter adds up histories. The zero value is ready; it is safe for concurrent use.
type Counter struct {
	mu      sync.Mutex
	tallies map[Key]*Tally
	worked  time.Duration
	tasks   int64
}

// Add counts one execution's whole history.
func (c *Counter) Add(events []history.Event) {
	var one scan
	one.run(events)
	if one.tasks == 0 && len(one.found) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tallies == nil {
		c.tallies = map[Key]*Tally{}
	}
	c.worked += one.worked
	c.tasks += one.tasks
	for key, t := range one.found {
		total := c.tallies[key]
		if total == nil {
			total = &Tally{Key: key}
			c.tallies[key] = total
		}
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

// scan reads one history. Histories without a failure, the usual case, allocate nothing.
type scan struct {
	found  map[Key]*Tally
	open   map[int64]failure // failures by event ID, until the next event tells whether a retry follows
	again  map[int64]Key     // attempts that are retries, by the ID of their last event
	worked time.Duration
	tasks  int64
}

type failure struct {
	key Key
	at  int64
}

func (s *scan) run(events []history.Event) {
	for i := range events {
		e := &events[i]
		switch e.Type {
		case history.TaskScheduled, history.LambdaFunctionScheduled, history.ActivityScheduled:
			s.scheduled(e)
		case history.TaskStarted, history.LambdaFunctionStarted, history.ActivityStarted, history.TaskSubmitted:
			s.follows(e)
		case history.TaskSucceeded, history.LambdaFunctionSucceeded, history.ActivitySucceeded:
			s.worked += since(events, e)
			s.succeeded(e)
		case history.TaskFailed, history.TaskTimedOut, history.LambdaFunctionFailed, history.LambdaFunctionTimedOut,
			history.ActivityFailed, history.ActivityTimedOut, history.TaskStartFailed, history.TaskSubmitFailed:
			s.worked += since(events, e)
			s.failed(events, e)
		default:
		}
	}
	for _, f := range s.open {
		s.tally(f.key).Exhausted++
	}
}

// since is the time between an event and the one it follows from.
func since(events []history.Event, e *history.Event) time.Duration {
	if e.Previous < 1 || e.Previous > int64(len(events)) {
		return 0
	}
	return time.Duration(e.Time - events[e.Previous-1].Time)
}

func (s *scan) tally(k Key) *Tally {
	if s.found == nil {
		s.found = map[Key]*Tally{}
	}
	t := s.found[k]
	if t == nil {
		t = &Tally{Key: k}
		s.found[k] = t
	}
	return t
}

// scheduled counts an attempt; one that follows from a failure is a retry.
func (s *scan) scheduled(e *history.Event) {
	s.tasks++
	f, ok := s.open[e.Previous]
	if !ok {
		return
	}
	delete(s.open, e.Previous)
	t := s.tally(f.key)
	t.Retries++
	t.Waited += time.Duration(e.Time - f.at)
	if s.again == nil {
		s.again = map[int64]Key{}
	}
	s.again[e.ID] = f.key
}

// follows carries the mark of a retry on to the attempt's next event.
func (s *scan) follows(e *history.Event) {
	if k, ok := s.again[e.Previous]; ok {
		delete(s.again, e.Previous)
		s.again[e.ID] = k
	}
}

func (s *scan) succeeded(e *history.Event) {
	if k, ok := s.again[e.Previous]; ok {
		delete(s.again, e.Previous)
		s.tally(k).Recovered++
	}
}

func (s *scan) failed(events []history.Event, e *history.Event) {
	delete(s.again, e.Previous)
	key := Key{State: stateOf(events, e)}
	if e.More != nil {
		key.Error = e.More.Error
	}
	s.tally(key).Failures++
	if s.open == nil {
		s.open = map[int64]failure{}
	}
	s.open[e.ID] = failure{key, e.Time}
}

// stateOf walks back to the entry of the state that an event belongs to.
func stateOf(events []history.Event, e *history.Event) string {
	for e.Previous >= 1 && e.Previous <= int64(len(events)) {
		e = &events[e.Previous-1]
		if e.Type.Entered() {
			return e.Name
		}
	}
	return ""
}
