package analysis

import (
	"time"

	"stepback/retrypatterns"
)

// Collector gathers what executions did. Tasks without a failure leave only counts behind, so that a record of a
// million rows needs little memory. The zero value is ready; it is not safe for concurrent use.
type Collector struct {
	rules   map[string]map[string][]retrypatterns.Retrier
	latest  map[string]latest // by state
	tasks   []Task            // those with a failure
	callees map[string]*callee
	states  map[string]*stateCount
	read    Read
	from    time.Time
	to      time.Time
}

// Read is what a collector has read, and what it could not use.
type Read struct {
	// Executions is how many histories, Tasks how many tasks and Attempts how many attempts there were.
	Executions int `json:"executions"`
	Tasks      int `json:"tasks"`
	Attempts   int `json:"attempts"`
	// Running is how many of the executions had not ended.
	Running int `json:"running"`
	// Gaps is how many histories lack events; CutByGaps how many tasks are known only up to a gap, or not at all.
	Gaps      int `json:"gaps"`
	CutByGaps int `json:"cutByGaps"`
}

// latest is the newest Retry array that a state was seen to run with.
type latest struct {
	at    time.Time
	rules string
}

// stateCount is what happened in a state, failed or not.
type stateCount struct {
	callee         string
	closed         int
	tasks, done    int
	attempts       int
	begun, lasted  time.Time // of the first and the last attempt
	lastedInFlight time.Duration
}

// Rules tells the Retry arrays that executions ran with, by state, under an ID that tasks name.
func (c *Collector) Rules(id string, states map[string][]retrypatterns.Retrier) {
	if c.rules == nil {
		c.rules = map[string]map[string][]retrypatterns.Retrier{}
	}
	c.rules[id] = states
}

// KnowsRules reports whether an ID was told.
func (c *Collector) KnowsRules(id string) bool { return c.rules[id] != nil }

// Add takes a task. One without attempts is ignored.
func (c *Collector) Add(t Task) {
	if len(t.Attempts) == 0 {
		return
	}
	if c.callees == nil {
		c.callees, c.states, c.latest = map[string]*callee{}, map[string]*stateCount{}, map[string]latest{}
	}
	c.read.Tasks++
	c.read.Attempts += len(t.Attempts)
	c.count(&t)
	at := c.callee(t.Callee)
	failed := false
	for i := range t.Attempts {
		a := &t.Attempts[i]
		failed = failed || a.failed()
		c.span(a.Start)
		c.span(a.End)
		at.ending(a)
		if !deferred(a.Error) {
			at.add(a, i == 0)
		}
	}
	if failed {
		c.tasks = append(c.tasks, t)
	}
}

func (c *Collector) span(at time.Time) {
	if at.IsZero() {
		return
	}
	if c.from.IsZero() || at.Before(c.from) {
		c.from = at
	}
	if at.After(c.to) {
		c.to = at
	}
}

func (c *Collector) count(t *Task) {
	s := c.states[t.State]
	if s == nil {
		s = &stateCount{callee: t.Callee, begun: t.Attempts[0].Start}
		c.states[t.State] = s
	}
	s.tasks++
	s.attempts += len(t.Attempts)
	if t.Ending == Done {
		s.done++
	}
	if t.Closed {
		s.closed++
	}
	first, last := t.Attempts[0].Start, t.Attempts[len(t.Attempts)-1].End
	if first.Before(s.begun) {
		s.begun = first
	}
	if last.After(first) {
		s.lastedInFlight += last.Sub(first)
		if last.After(s.lasted) {
			s.lasted = last
		}
	}
	if t.Rules != "" && !c.latest[t.State].at.After(first) {
		c.latest[t.State] = latest{first, t.Rules}
	}
}

func (c *Collector) callee(name string) *callee {
	x := c.callees[name]
	if x == nil {
		x = &callee{name: name, seconds: map[int64]*second{}, ended: map[int64]int{}, ends: map[int64]end{}}
		c.callees[name] = x
	}
	return x
}

// Failed are the tasks of which an attempt failed, in the order in which they were added. They are not to be changed.
func (c *Collector) Failed() []Task { return c.tasks }

// rulesOf are the retriers that a task ran with; false when they are not known.
func (c *Collector) rulesOf(t *Task) ([]retrypatterns.Retrier, bool) {
	states, ok := c.rules[t.Rules]
	if !ok || t.Rules == "" {
		return nil, false
	}
	retry, ok := states[t.State]
	return retry, ok
}

// present are the retriers that a state ran with last; false when they are not known.
func (c *Collector) present(state string) ([]retrypatterns.Retrier, bool) {
	l, ok := c.latest[state]
	if !ok {
		return nil, false
	}
	retry, ok := c.rules[l.rules][state]
	return retry, ok
}
