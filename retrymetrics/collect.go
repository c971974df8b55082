package retrymetrics

import (
	"cmp"
	"slices"
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

// Add counts the whole history of an execution, which may still be running.
func (c *Collector) Add(executionARN string, events []history.Event) { whole(executionARN, events, c) }

// begin implements Target.
func (c *Collector) begin(executionARN string) sink {
	t := c.sinkOf(executionARN)
	return &t
}

func (c *Collector) sinkOf(executionARN string) pointSink {
	t := c.teller(machineOf(executionARN))
	t.child, t.batch = isChildExecution(executionARN), isBatch(executionARN)
	return t
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
	t.flush()
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

// Put adds points to the counted data.
func (c *Collector) Put(points []Point) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range points {
		for i, v := range p.Values {
			c.points.add(p.Metric, p.Labels, p.Start.UnixNano(), v, p.Counts[i])
		}
	}
}

// Points returns the counted data, sorted by time, metric and labels.
func (c *Collector) Points() []Point {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.points.sorted()
	for i := range out {
		p := &out[i]
		p.Values, p.Counts = slices.Clone(p.Values), slices.Clone(p.Counts)
	}
	return out
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

// isBatch reports whether an execution is a batch of the objective: a child execution of a distributed Map, other than
// those of the import's state machines that check a range of a file or import a whole file.
func isBatch(executionARN string) bool {
	machine, _, _ := strings.Cut(afterType(executionARN), ":")
	_, label, child := strings.Cut(machine, "/")
	return child && label != statemachine.ValidateRanges && label != statemachine.ImportFiles
}

// afterType removes arn:aws:states:REGION:ACCOUNT:execution: from an ARN.
func afterType(arn string) string {
	a, _ := aws.ParseARN(arn)
	_, rest, _ := strings.Cut(a.Resource, ":")
	return rest
}

// pointSink is the sink that writes points to a collector. It gathers a few before it takes the collector's lock.
type pointSink struct {
	machine   string
	child     bool // the execution is a child of a distributed Map
	batch     bool // the objective counts it; see isBatch
	period    time.Duration
	collector *Collector
	added     *additions // nil if there are none
	zeros     moments    // of attempts
	passes    moments    // of successes
}

// addition is a value that is not in the collector yet.
type addition struct {
	metric *Metric
	labels Labels
	start  int64
	value  float64
	times  int64
}

// most is the number of additions that a sink gathers.
const most = 64

// additions holds the values that a sink has gathered. Its memory is used again: most steps of an execution add one or
// two.
type additions struct {
	n   int
	all [most]addition
}

var spare = sync.Pool{New: func() any { return new(additions) }}

// moments identifies the state and the period of which the values that do not add up have been published.
type moments struct {
	state string
	start int64
	known bool
}

// again reports whether this is the state and the period of the last call.
func (m *moments) again(state string, start int64) bool {
	if m.known && m.state == state && m.start == start {
		return true
	}
	*m = moments{state, start, true}
	return false
}

func (t *pointSink) add(m *Metric, l Labels, at int64, v float64) { t.addTimes(m, l, at, v, 1) }

func (t *pointSink) addTimes(m *Metric, l Labels, at int64, v float64, times int64) {
	start := startOf(at, t.period)
	const near = 6 // attempts and successes are by far the most frequent, and follow each other closely
	if t.added != nil && t.added.n == most {
		t.flush()
	}
	if t.added == nil {
		t.added = spare.Get().(*additions)
	}
	for i := t.added.n - 1; i >= max(0, t.added.n-near); i-- {
		a := &t.added.all[i]
		if a.metric != m || a.start != start || a.labels != l {
			continue
		}
		switch {
		case m.mode == added:
			a.value += v
		case m.mode == distribution && a.value == v:
			a.times += times
		default:
			continue
		}
		return
	}
	t.added.all[t.added.n] = addition{m, l, start, v, times}
	t.added.n++
}

// flush implements sink.
func (t *pointSink) flush() {
	if t.added == nil {
		return
	}
	c := t.collector
	added := t.added.all[:t.added.n]
	c.mu.Lock()
	for i := range added {
		a := &added[i]
		c.points.add(a.metric, a.labels, a.start, a.value, a.times)
	}
	c.mu.Unlock()
	clear(added) // their labels
	t.added.n = 0
	spare.Put(t.added)
	t.added = nil
}

func (t *pointSink) labels(state string) Labels { return Labels{StateMachine: t.machine, State: state} }

func (t *pointSink) attempted(a *history.Attempt, at int64) {
	l := t.labels(a.State)
	t.add(TaskAttempts, l, at, 1)
	if t.zeros.again(a.State, startOf(at, t.period)) {
		return
	}
	// Zeros are published as well, because metric math has no value if a term has none, and a chart would show a gap.
	for _, m := range []*Metric{RetryAttempts, TaskFailures, Throttles, Timeouts} {
		t.add(m, l, at, 0)
	}
}

func (t *pointSink) succeeded(a *history.Attempt, at int64) {
	if !t.passes.again(a.State, startOf(at, t.period)) {
		t.add(CircuitBreakerState, t.labels(a.State), at, 0)
	}
	t.took(a, at)
}

// took counts the attempts of a task that ended.
func (t *pointSink) took(a *history.Attempt, at int64) {
	if a.Number > 0 {
		t.add(AttemptsPerTask, t.labels(a.State), at, float64(a.Number))
	}
}

func (t *pointSink) one(m *Metric, k Key, at int64) { t.some(m, k, at, 1) }

func (t *pointSink) some(m *Metric, k Key, at int64, n float64) {
	l := t.labels(k.State)
	l.ErrorType = t.errorType(k.Error)
	t.add(m, l, at, n)
}

func (t *pointSink) failed(a *history.Attempt, at int64) {
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

func (t *pointSink) retried(a *history.Attempt, at int64) {
	t.one(RetryAttempts, before(a), at)
	t.add(RetryDelay, t.labels(a.State), at, rounded(a.Wait().Seconds()))
}

// recovered counts a success and zero failures: metric math has no value if a term has never had one, and FILL does
// not help with a metric that was never published.
func (t *pointSink) recovered(a *history.Attempt, at int64) {
	t.one(RetrySuccess, before(a), at)
	t.some(RetryFailure, before(a), at, 0)
}

func (t *pointSink) ended(a *history.Attempt, _ bool, at int64) {
	t.took(a, at)
	if a.Retry() {
		t.one(RetryFailure, keyOf(a), at)
		t.some(RetrySuccess, keyOf(a), at, 0)
	}
}

func (t *pointSink) terminal(end history.Type, failure string, at int64) {
	succeeded, failed := ExecutionsSucceeded, ExecutionsFailed
	if t.child {
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
		if end == history.ExecutionFailed && statemachine.BlamesInput(failure) {
			refused = 1
		}
		t.add(ExecutionsRefused, l, at, refused)
	}
}
