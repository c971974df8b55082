package simulation

import (
	"math"
	"slices"
	"time"

	"stepback/adaptive/controller/decide"
	"stepback/adaptive/lab/draw"
	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
	"stepback/retrypatterns"
)

// Change is one change that the controller made.
type Change struct {
	At time.Duration
	// Workload is the index of the workload.
	Workload int
	// Text is the decision with its reasons.
	Text string
}

// control is the controller outside the run. It calls decide.Next with the data points that scenario.Observe makes
// visible. Like the production controller, it distinguishes errors by their names and decides once per period.
type control struct {
	policy  *policy.Controller
	states  []controlled // one per workload
	periods uint64
	changes []Change
}

// controlled holds the controller's knowledge of one workload's state.
type controlled struct {
	subject decide.Subject
	memory  decide.Memory
	current decide.Point
	// points are the completed data points. The newest ones are not visible to the controller yet.
	points []decide.Point
	// best is the highest goodput seen in one minute. saturated is true if a minute under overload was seen.
	best      float64
	saturated bool
	seen      int
	last      decide.Direction
}

func newControl(r *run) *control {
	c := &control{policy: r.Policy.Controller}
	for i := range r.workloads {
		w := &r.workloads[i]
		subject := decide.Subject{State: w.State, Base: compiled(w.Workload), Closed: w.Map != nil}
		c.states = append(c.states, controlled{subject: subject})
	}
	r.heap.push(int64(r.Scenario.Observe.Period), periodEnd, 0)
	return c
}

// compiled returns a workload's Retry block as a state machine has it, with times in whole seconds.
func compiled(w *scenario.Workload) []retrypatterns.Retrier {
	whole := func(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
	retry := make([]retrypatterns.Retrier, len(w.Retriers))
	for i, r := range w.Retriers {
		p := r.Policy
		retry[i] = retrypatterns.Retrier{
			ErrorEquals: r.Errors, IntervalSeconds: whole(p.Interval), MaxAttempts: p.MaxAttempts, BackoffRate: p.Rate,
			MaxDelaySeconds: whole(p.MaxDelay), JitterStrategy: p.Jitter,
		}
	}
	return retry
}

func (c *control) called(x *record) {
	p := &c.states[x.workload].current
	p.Attempts++
	if x.calls == 1 {
		p.FirstAttempts++
	}
}

func (c *control) failed(x *record, e *errorKind) {
	p := &c.states[x.workload].current
	if e.loadByName {
		p.LoadFailures++
	}
	if e.overloadByName {
		p.Overload++
	}
}

func (c *control) succeeded(x *record) { c.states[x.workload].current.Successes++ }
func (c *control) exhausted(x *record) { c.states[x.workload].current.Exhausted++ }

// close ends a period of the metrics, and lets the controller decide on the visible data points.
func (c *control) close(r *run) {
	c.periods++
	for i := range c.states {
		c.states[i].close(r, draw.Float(r.Seed, forObservation, uint64(i), c.periods))
	}
	measured := make([]decide.Measurement, len(c.states))
	services := map[*service][]*decide.Measurement{}
	for i := range c.states {
		if r.workloads[i].policy != r.Policy {
			continue // a client that the controller does not see
		}
		measured[i] = c.measure(r, i)
		s := r.workloads[i].service
		services[s] = append(services[s], &measured[i])
	}
	for _, states := range services {
		decide.Together(states)
	}
	for i := range c.states {
		if r.workloads[i].policy == r.Policy {
			c.decide(r, i, measured[i])
		}
	}
	if at := r.now + int64(r.Scenario.Observe.Period); at <= r.end {
		r.heap.push(at, periodEnd, 0)
	}
}

// close turns the counts of a period into data points of one minute each.
func (s *controlled) close(r *run, u float64) {
	p := s.current
	s.current = decide.Point{}
	if u < r.Scenario.Observe.Loss {
		return
	}
	for j := range r.faults {
		f := &r.faults[j]
		switch {
		case !f.IsMetric() || !f.on:
		case f.Metric == scenario.ErrorRate:
			p.LoadFailures = max(f.Says*p.Attempts, p.Overload)
		default:
			p.Overload = f.Says * p.Attempts
			p.LoadFailures = max(p.LoadFailures, p.Overload)
		}
	}
	// An attempt may start in one period and fail in the next, but a rate must never be above 1.
	p.LoadFailures = min(p.LoadFailures, p.Attempts)
	p.Overload = min(p.Overload, p.LoadFailures)
	minutes := int64(r.Scenario.Observe.Period / decide.Minute)
	for k := range minutes {
		q := p
		for _, f := range []*float64{
			&q.Attempts, &q.FirstAttempts, &q.Successes, &q.Exhausted, &q.LoadFailures, &q.Overload,
		} {
			*f /= float64(minutes)
		}
		q.Start = r.time().Add(-time.Duration(minutes-k) * decide.Minute)
		s.points = append(s.points, q)
	}
}

// measure returns what the controller knows of one workload.
func (c *control) measure(r *run, i int) decide.Measurement {
	s, w := &c.states[i], &r.workloads[i]
	now := r.time()
	for s.seen < len(s.points) && !s.points[s.seen].Start.Add(decide.Minute+r.Scenario.Observe.Delay).After(now) {
		p := &s.points[s.seen]
		s.best = max(s.best, p.Successes/decide.Minute.Seconds())
		s.saturated = s.saturated || p.Attempts > 0 && p.Overload >= 0.2*p.Attempts
		s.seen++
	}
	if day := int(24 * time.Hour / decide.Minute); s.seen > 2*day {
		s.points = slices.Delete(s.points, 0, s.seen-day)
		s.seen = day
	}
	m := decide.Measurement{
		Now: now, Points: s.points[:s.seen], Capacity: decide.Capacity{PerSecond: s.best, Saturated: s.saturated},
		CallTimeout: w.Call.Timeout,
	}
	if w.Map != nil && c.policy.MapRun && w.running > 0 {
		m.MapRun = &decide.MapRun{ARN: w.Name, Concurrency: w.limit, Base: w.Map.MaxConcurrency}
	}
	return m
}

// decide computes one workload's decision and applies it.
func (c *control) decide(r *run, i int, m decide.Measurement) {
	s := &c.states[i]
	d := decide.Next(s.subject, decide.Defaults(), s.memory, m)
	if d.Verdict == decide.ChangeRetry && !c.policy.Retry {
		return
	}
	s.memory = s.memory.After(d)
	if d.Changes() {
		c.apply(r, i, d)
	}
}

// apply applies a change. It changes Retry for future executions, or MaxConcurrency for the running Map.
func (c *control) apply(r *run, i int, d decide.Decision) {
	s, w := &c.states[i], &r.workloads[i]
	c.changes = append(c.changes, Change{At: time.Duration(r.now), Workload: i, Text: d.String()})
	r.measure.changes++
	if s.last != 0 && s.last != d.Direction {
		r.measure.reversals++
	}
	s.last = d.Direction
	if d.Verdict == decide.ChangeMapRun {
		w.limit = d.MapRun.Concurrency
		r.fillMap(w)
		return
	}
	version := slices.Clone(w.versions[0])
	for j := range version {
		if changed, base := d.Retry[j].Policy(), s.subject.Base[j].Policy(); changed != base {
			version[j] = changed
		}
	}
	w.versions = append(w.versions, version)
}
