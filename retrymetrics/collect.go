package retrymetrics

import (
	"cmp"
	"strings"
	"sync"
	"time"

	"stepback/aws"
	"stepback/engine/history"
	"stepback/retry"
	"stepback/statemachine"
)

// Collector turns what happened into metric data. The zero value is ready; it is safe for concurrent use.
type Collector struct {
	// Period is how long the periods are for which values are put together; 0 means a minute, CloudWatch's standard
	// resolution.
	Period time.Duration
	// OwnErrors is how many error names of each machine, beside those of the retry table, are an ErrorType of their
	// own; those that come later are [OtherError]. 0, for where each metric has its price, is none.
	OwnErrors int

	mu     sync.Mutex
	points points
	own    map[string]map[string]bool // names, by machine
}

// Add counts one ended execution's whole history.
func (c *Collector) Add(executionARN string, events []history.Event) {
	t := c.teller(machineOf(executionARN))
	one := scan{sink: &t}
	one.run(events)
	if n := len(events); n > 0 {
		t.terminal(executionARN, events[n-1].Type, failureName(&events[n-1]), events[n-1].Time)
	}
	c.take(&t)
}

// Rows are a file's rows by outcome.
type Rows struct {
	Applied, AlreadyApplied, Rejected, DeadLettered int64
	Retried                                         map[string]int64 // rows that were tried again, by error
	Recovered                                       int64            // of those, applied
}

// AddRows counts what AggregateResults found for one file.
func (c *Collector) AddRows(machine string, at time.Time, r Rows) {
	t := c.teller(machine)
	l := Labels{StateMachine: machine}
	for _, m := range []struct {
		metric *Metric
		n      int64
	}{{RowsApplied, r.Applied}, {RowsAlreadyApplied, r.AlreadyApplied}, {RowsRejected, r.Rejected},
		{RowsDeadLettered, r.DeadLettered}, {RowsRetried, 0}, {RowsRecovered, r.Recovered}} {
		t.add(m.metric, l, at.UnixNano(), float64(m.n))
	}
	for name, n := range r.Retried {
		l := l
		l.ErrorType = t.errorType(name)
		t.add(RowsRetried, l, at.UnixNano(), float64(n))
	}
	c.take(&t)
}

func (c *Collector) teller(machine string) teller {
	return teller{machine: machine, period: cmp.Or(c.Period, time.Minute), collector: c}
}

// errorType is the ErrorType of an error name of this machine.
func (t *teller) errorType(name string) string {
	known := ErrorTypeOf(name)
	if known != OtherError || t.collector.OwnErrors == 0 || !plain(name) {
		return known
	}
	c := t.collector
	c.mu.Lock()
	defer c.mu.Unlock()
	own := c.own[t.machine]
	switch {
	case own[name]:
		return name
	case len(own) >= c.OwnErrors:
		return OtherError
	case own == nil:
		if c.own == nil {
			c.own = map[string]map[string]bool{}
		}
		own = map[string]bool{}
		c.own[t.machine] = own
	}
	own[name] = true
	return name
}

func (c *Collector) take(t *teller) {
	t.flush()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range t.points {
		for i, v := range p.Values {
			c.points.add(p.Metric, p.Labels, p.Start.UnixNano(), v, p.Counts[i])
		}
	}
}

// Points returns what has been counted, sorted by time, metric and labels.
func (c *Collector) Points() []Point {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.points.sorted()
}

// Take returns what has been counted, like Points, and starts anew.
func (c *Collector) Take() []Point {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.points.sorted()
	c.points = nil
	return out
}

// machineOf returns the name of an execution's state machine.
func machineOf(executionARN string) string {
	machine, _, _ := strings.Cut(afterType(executionARN), ":")
	machine, _, _ = strings.Cut(machine, "/")
	return machine
}

// child reports whether an execution is one of a distributed Map, whose machine name carries the Map's label.
func child(executionARN string) bool {
	machine, _, _ := strings.Cut(afterType(executionARN), ":")
	return strings.Contains(machine, "/")
}

// afterType cuts arn:aws:states:REGION:ACCOUNT:execution: off.
func afterType(arn string) string {
	a, _ := aws.ParseARN(arn)
	_, rest, _ := strings.Cut(a.Resource, ":")
	return rest
}

// teller is the sink that writes points. Attempts and successes are by far the most that happens; they are counted
// while state and period stay the same.
type teller struct {
	machine   string
	period    time.Duration
	points    points
	attempts  run
	passes    run
	collector *Collector
}

// run is a number of like happenings.
type run struct {
	state   string
	at, n   int64
	attempt int // which attempts they were, where that counts
}

func (t *teller) add(m *Metric, l Labels, at int64, v float64) {
	t.points.add(m, l, startOf(at, t.period), v, 1)
}

func (t *teller) fits(r run, state string, at int64) bool {
	return r.n > 0 && r.state == state && startOf(r.at, t.period) == startOf(at, t.period)
}

func (t *teller) labels(state string) Labels { return Labels{StateMachine: t.machine, State: state} }

func (t *teller) attempted(state string, at int64) {
	if !t.fits(t.attempts, state, at) {
		t.flushAttempts()
		t.attempts = run{state: state, at: at}
	}
	t.attempts.n++
}

func (t *teller) succeeded(state string, at int64, attempt int) {
	if !t.fits(t.passes, state, at) || t.passes.attempt != attempt {
		t.flushPasses()
		t.passes = run{state: state, at: at, attempt: attempt}
	}
	t.passes.n++
}

func (t *teller) flush() { t.flushAttempts(); t.flushPasses() }

func (t *teller) flushAttempts() {
	if t.attempts.n > 0 {
		t.add(TaskAttempts, t.labels(t.attempts.state), t.attempts.at, float64(t.attempts.n))
		// Nothing that went wrong is said as well: metric math has no value where a term has none, a chart shows a gap.
		for _, m := range []*Metric{RetryAttempts, TaskFailures, Throttles, Timeouts} {
			t.add(m, t.labels(t.attempts.state), t.attempts.at, 0)
		}
	}
	t.attempts.n = 0
}

func (t *teller) flushPasses() {
	if t.passes.n > 0 {
		t.add(CircuitBreakerState, t.labels(t.passes.state), t.passes.at, 0)
		t.took(t.passes.state, t.passes.at, t.passes.attempt, t.passes.n)
	}
	t.passes.n = 0
}

// took counts tasks that ended, by how many attempts each of them took.
func (t *teller) took(state string, at int64, attempts int, tasks int64) {
	if attempts > 0 {
		t.points.add(AttemptsPerTask, t.labels(state), startOf(at, t.period), float64(attempts), tasks)
	}
}

func (t *teller) one(m *Metric, k Key, at int64) { t.some(m, k, at, 1) }

func (t *teller) some(m *Metric, k Key, at int64, n float64) {
	l := t.labels(k.State)
	l.ErrorType = t.errorType(k.Error)
	t.add(m, l, at, n)
}

func (t *teller) failed(f failure) {
	t.one(TaskFailures, f.key, f.at)
	l := t.labels(f.key.State)
	if throttled(f.key.Error) {
		t.add(Throttles, l, f.at, 1)
	}
	if f.timedOut || ranOutOfTime(f.key.Error) {
		t.add(Timeouts, l, f.at, 1)
	}
	if f.key.Error == retry.CircuitOpen {
		t.add(CircuitBreakerState, l, f.at, 1)
	}
}

func (t *teller) retried(f failure, at int64) {
	t.one(RetryAttempts, f.key, at)
	t.add(RetryDelay, t.labels(f.key.State), at, rounded(time.Duration(at-f.at).Seconds()))
}

// recovered counts a success and no failure: metric math has no value where a term has never had one, and FILL does not
// help a metric that nobody has published.
func (t *teller) recovered(k Key, at int64) {
	t.one(RetrySuccess, k, at)
	t.some(RetryFailure, k, at, 0)
}

func (t *teller) ended(f failure) {
	t.took(f.key.State, f.at, f.attempt, 1)
	if f.after != nil {
		t.one(RetryFailure, f.key, f.at)
		t.some(RetrySuccess, f.key, f.at, 0)
	}
}

// terminal counts the end of an execution, with the name of the error that it failed with.
func (t *teller) terminal(executionARN string, end history.Type, failure string, at int64) {
	if !end.Terminal() {
		return
	}
	succeeded, failed := ExecutionsSucceeded, ExecutionsFailed
	if child(executionARN) {
		succeeded, failed = ChildExecutionsSucceeded, ChildExecutionsFailed
	}
	l := Labels{StateMachine: t.machine}
	if end == history.ExecutionSucceeded {
		t.add(succeeded, l, at, 1)
		t.add(failed, l, at, 0)
		return
	}
	t.add(failed, l, at, 1)
	if failed == ExecutionsFailed {
		refused := 0.0
		if end == history.ExecutionFailed &&
			(statemachine.IsRefusal(failure) || failure == statemachine.ToleratedFailurePercentageExceeded) {
			refused = 1
		}
		t.add(ExecutionsRefused, l, at, refused)
	}
}

// failureName is the error that an execution's last event fails it with.
func failureName(e *history.Event) string {
	if e.More == nil {
		return ""
	}
	return e.More.Failure.Name
}
