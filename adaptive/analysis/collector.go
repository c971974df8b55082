package analysis

import (
	"time"

	"stepback/retrypatterns"
)

// Collector collects what executions did. Of tasks without a failure only counts and the times of their calls are
// kept, so a record of a million rows needs little memory: 16 bytes a call. The zero value is ready to use; it is not
// safe for concurrent use.
type Collector struct {
	// Each, unless nil, is called with every task that is added. The task must not be kept.
	Each func(*Task)

	rules   map[string]map[string][]retrypatterns.Retrier
	latest  map[string]latest // by state
	tasks   []Task            // those with a failure
	callees map[string]*callee
	states  map[string]*stateCount
	read    Read
	from    time.Time
	to      time.Time
	// backwards counts the attempts whose times are impossible: see ErrClocks.
	backwards int
}

// Read counts what a collector has read and what it could not use.
type Read struct {
	// Executions, Tasks and Attempts are the numbers of histories, tasks and attempts.
	Executions int `json:"executions"`
	Tasks      int `json:"tasks"`
	Attempts   int `json:"attempts"`
	// Running is the number of executions that had not ended.
	Running int `json:"running"`
	// Gaps is the number of histories that lack events; CutByGaps is the number of tasks that are known only up to a
	// gap, or not at all.
	Gaps      int `json:"gaps"`
	CutByGaps int `json:"cutByGaps"`
}

// latest is the most recent Retry array with which a state ran.
type latest struct {
	at    time.Time
	rules string
}

// stateCount counts the tasks of a state, failed or not.
type stateCount struct {
	callee         string
	closed         int
	runs           map[string]*mapRun
	tasks, done    int
	attempts       int
	begun, lasted  time.Time // start of the first and end of the last attempt
	lastedInFlight time.Duration
}

// mapRun is a Map Run: its tasks of one state, the start of the first attempt, and the end of the last.
type mapRun struct {
	tasks        int
	begun, ended time.Time
}

// Rules registers the Retry arrays with which executions ran, by state. Tasks refer to them by id.
func (c *Collector) Rules(id string, states map[string][]retrypatterns.Retrier) {
	if c.rules == nil {
		c.rules = map[string]map[string][]retrypatterns.Retrier{}
	}
	c.rules[id] = states
}

// KnowsRules reports whether Rules was called for an ID.
func (c *Collector) KnowsRules(id string) bool { return c.rules[id] != nil }

// Add adds a task. A task without attempts is ignored.
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
	if c.Each != nil {
		c.Each(&t)
	}
	at := c.callee(t.Callee)
	failed := false
	var before failures
	for i := range t.Attempts {
		a := &t.Attempts[i]
		failed = failed || a.failed()
		if !a.End.IsZero() && a.End.Before(a.Start) || i > 0 && a.Start.Before(t.Attempts[i-1].End) {
			c.backwards++
		}
		c.span(a.Start)
		c.span(a.End)
		at.ending(a)
		if !deferred(a.Error) {
			at.add(a, i+1, before)
			at.remember(a)
		}
		before = before.then(a.Error)
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
	first, last := t.Attempts[0].Start, t.Attempts[len(t.Attempts)-1].End
	if t.MapRun != "" {
		s.closed++
		if s.runs == nil {
			s.runs = map[string]*mapRun{}
		}
		r := s.runs[t.MapRun]
		if r == nil {
			r = &mapRun{begun: first, ended: first}
			s.runs[t.MapRun] = r
		}
		r.tasks++
		if first.Before(r.begun) {
			r.begun = first
		}
		if last.After(r.ended) {
			r.ended = last
		}
	}
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
		x = &callee{name: name, seconds: map[int64]*second{}, ended: map[int64]int{}, ends: map[int64]endCounts{}}
		c.callees[name] = x
	}
	return x
}

// Failed returns the tasks with a failed attempt, in the order in which they were added. The caller must not modify
// them.
func (c *Collector) Failed() []Task { return c.tasks }

// Retriers returns the Retry array under which a task ran; ok is false if it is unknown.
func (c *Collector) Retriers(t *Task) ([]retrypatterns.Retrier, bool) {
	states, ok := c.rules[t.Rules]
	if !ok || t.Rules == "" {
		return nil, false
	}
	retry, ok := states[t.State]
	return retry, ok
}

// currentRetry returns the retriers with which a state ran last; false if they are unknown.
func (c *Collector) currentRetry(state string) ([]retrypatterns.Retrier, bool) {
	l, ok := c.latest[state]
	if !ok {
		return nil, false
	}
	retry, ok := c.rules[l.rules][state]
	return retry, ok
}
