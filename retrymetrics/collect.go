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

// Collector turns histories and other counts into metric data. The zero value is ready to use; it is safe for
// concurrent use.
type Collector struct {
	// Period is the length of the periods over which values are aggregated; 0 means one minute, CloudWatch's standard
	// resolution.
	Period time.Duration
	// OwnErrors is the number of error names per machine that get their own ErrorType, in addition to those of the
	// retry table. Further ones become [OtherError]. The default is 0, because each metric costs money in
	// CloudWatch.
	OwnErrors int

	mu     sync.Mutex
	points points
	own    map[string]map[string]bool // names, by machine
}

// Add counts the whole history of an ended execution.
func (c *Collector) Add(executionARN string, events []history.Event) {
	t := c.teller(machineOf(executionARN))
	scan(&t, events)
	t.last(executionARN, events)
	c.take(&t)
}

// Counting counts the events of one execution since its last redrive; see [Collector.Begin].
type Counting struct {
	teller    pointSink
	execution string
}

// Begin starts to count an execution whose history the caller reads. The counts become visible with [Counting.End].
func (c *Collector) Begin(executionARN string) *Counting {
	return &Counting{c.teller(machineOf(executionARN)), executionARN}
}

// Count counts the change that one event made. It ignores events before the last redrive, because they were counted
// when the execution ended before.
func (x *Counting) Count(c history.Change) { count(&x.teller, c) }

// End counts failures without a following event, and the end of the execution, which is the last of events. r has read
// the history.
func (x *Counting) End(r *history.AttemptReader, events []history.Event) {
	for a := range r.Open() {
		if a.Failed() && a.Redrive == r.Redrives() {
			x.teller.ended(a, true)
		}
	}
	x.teller.last(x.execution, events)
	x.teller.collector.take(&x.teller)
}

// Rows counts the rows of a file by outcome.
type Rows struct {
	Applied, AlreadyApplied, Rejected, DeadLettered int64
	Retried                                         map[string]int64 // rows that were tried again, by error
	Recovered                                       int64            // rows among them that were applied
}

// AddRows counts the rows that AggregateResults found for one file.
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

func (c *Collector) teller(machine string) pointSink {
	return pointSink{machine: machine, period: cmp.Or(c.Period, time.Minute), collector: c}
}

// errorType returns the ErrorType of an error name of this machine.
func (t *pointSink) errorType(name string) string {
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

func (c *Collector) take(t *pointSink) {
	t.flush()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range t.points {
		for i, v := range p.Values {
			c.points.add(p.Metric, p.Labels, p.Start.UnixNano(), v, p.Counts[i])
		}
	}
}

// Points returns the counted data, sorted by time, metric and labels.
func (c *Collector) Points() []Point {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.points.sorted()
}

// Take returns the counted data like Points, and resets the collector.
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

// isChildExecution reports whether an execution is a child of a distributed Map; its machine name then contains the
// Map's label.
func isChildExecution(executionARN string) bool {
	machine, _, _ := strings.Cut(afterType(executionARN), ":")
	return strings.Contains(machine, "/")
}

// afterType removes arn:aws:states:REGION:ACCOUNT:execution: from an ARN.
func afterType(arn string) string {
	a, _ := aws.ParseARN(arn)
	_, rest, _ := strings.Cut(a.Resource, ":")
	return rest
}

// pointSink is the sink that writes points. Attempts and successes are by far the most frequent; they are counted in
// runs while state and period stay the same.
type pointSink struct {
	machine   string
	period    time.Duration
	points    points
	attempts  run
	passes    run
	collector *Collector
}

// run counts consecutive equal events.
type run struct {
	state   string
	at, n   int64
	attempt int // the attempts' number, if it matters
}

func (t *pointSink) add(m *Metric, l Labels, at int64, v float64) {
	t.points.add(m, l, startOf(at, t.period), v, 1)
}

func (t *pointSink) fits(r run, state string, at int64) bool {
	return r.n > 0 && r.state == state && startOf(r.at, t.period) == startOf(at, t.period)
}

func (t *pointSink) labels(state string) Labels { return Labels{StateMachine: t.machine, State: state} }

func (t *pointSink) attempted(a *history.Attempt) {
	state, at := a.State, a.Scheduled.Time
	if !t.fits(t.attempts, state, at) {
		t.flushAttempts()
		t.attempts = run{state: state, at: at}
	}
	t.attempts.n++
}

func (t *pointSink) succeeded(a *history.Attempt) {
	state, at := a.State, a.Ended.Time
	if !t.fits(t.passes, state, at) || t.passes.attempt != a.Number {
		t.flushPasses()
		t.passes = run{state: state, at: at, attempt: a.Number}
	}
	t.passes.n++
}

func (t *pointSink) flush() { t.flushAttempts(); t.flushPasses() }

func (t *pointSink) flushAttempts() {
	if t.attempts.n > 0 {
		t.add(TaskAttempts, t.labels(t.attempts.state), t.attempts.at, float64(t.attempts.n))
		// Zeros are published as well, because metric math has no value if a term has none, and a chart would show a
		// gap.
		for _, m := range []*Metric{RetryAttempts, TaskFailures, Throttles, Timeouts} {
			t.add(m, t.labels(t.attempts.state), t.attempts.at, 0)
		}
	}
	t.attempts.n = 0
}

func (t *pointSink) flushPasses() {
	if t.passes.n > 0 {
		t.add(CircuitBreakerState, t.labels(t.passes.state), t.passes.at, 0)
		t.took(t.passes.state, t.passes.at, t.passes.attempt, t.passes.n)
	}
	t.passes.n = 0
}

// took counts tasks that ended, all after the same number of attempts.
func (t *pointSink) took(state string, at int64, attempts int, tasks int64) {
	if attempts > 0 {
		t.points.add(AttemptsPerTask, t.labels(state), startOf(at, t.period), float64(attempts), tasks)
	}
}

func (t *pointSink) one(m *Metric, k Key, at int64) { t.some(m, k, at, 1) }

func (t *pointSink) some(m *Metric, k Key, at int64, n float64) {
	l := t.labels(k.State)
	l.ErrorType = t.errorType(k.Error)
	t.add(m, l, at, n)
}

func (t *pointSink) failed(a *history.Attempt) {
	at := a.Ended.Time
	t.one(TaskFailures, keyOf(a), at)
	l := t.labels(a.State)
	if throttled(a.Failure.Name) {
		t.add(Throttles, l, at, 1)
	}
	if a.TimedOut || ranOutOfTime(a.Failure.Name) {
		t.add(Timeouts, l, at, 1)
	}
	if a.Failure.Name == retry.CircuitOpen {
		t.add(CircuitBreakerState, l, at, 1)
	}
}

func (t *pointSink) retried(a *history.Attempt) {
	t.one(RetryAttempts, before(a), a.Scheduled.Time)
	t.add(RetryDelay, t.labels(a.State), a.Scheduled.Time, rounded(a.Wait().Seconds()))
}

// recovered counts a success and zero failures: metric math has no value if a term has never had one, and FILL does
// not help with a metric that was never published.
func (t *pointSink) recovered(a *history.Attempt) {
	t.one(RetrySuccess, before(a), a.Ended.Time)
	t.some(RetryFailure, before(a), a.Ended.Time, 0)
}

func (t *pointSink) ended(a *history.Attempt, _ bool) {
	t.took(a.State, a.Ended.Time, a.Number, 1)
	if a.Retry() {
		t.one(RetryFailure, keyOf(a), a.Ended.Time)
		t.some(RetrySuccess, keyOf(a), a.Ended.Time, 0)
	}
}

// last counts the end of an execution, if the last event is one.
func (t *pointSink) last(executionARN string, events []history.Event) {
	if n := len(events); n > 0 {
		t.terminal(executionARN, events[n-1].Type, failureName(&events[n-1]), events[n-1].Time)
	}
}

// terminal counts the end of an execution. failure is the name of the error with which it failed.
func (t *pointSink) terminal(executionARN string, end history.Type, failure string, at int64) {
	if !end.Terminal() {
		return
	}
	succeeded, failed := ExecutionsSucceeded, ExecutionsFailed
	if isChildExecution(executionARN) {
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

// failureName returns the name of the error in an execution's last event.
func failureName(e *history.Event) string {
	if e.More == nil {
		return ""
	}
	return e.More.Failure.Name
}
