package local

import (
	"context"
	"fmt"
	"time"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/jsonvalue"
	"stepback/local/services/events"
	"stepback/local/services/lambda/durablefunctions"
	"stepback/local/tracing"
	"stepback/retrymetrics"
	"stepback/tasks/lambda/invocation"
)

// openDurable opens the durable executions of the functions, which are kept in the journal.
func (p *Platform) openDurable(ctx context.Context) (err error) {
	p.Durable, err = durablefunctions.Open(ctx, durablefunctions.Options{Journal: p.Journal, Clock: p.Clock,
		Functions: p.Functions, Changed: p.durableChanged, Track: p.trackDurable, Ended: p.durableEnded,
		Recovered:    func(x *journal.Execution, past []history.Event) { p.metrics.recovered(x.ARN, past) },
		Resumed:      p.durableResumed,
		Destinations: p.Functions.Destinations(), Chained: p.cfg.Chained, Tracer: executionTracer{p.tracer},
		AwaitCall: p.awaitCall,
		Log:       p.cfg.Log})
	if err != nil {
		return fmt.Errorf("the durable executions of %s: %w", p.Dir, err)
	}
	p.Functions.StartDurable(p.Durable)
	p.meter.durable.Store(p.Durable)
	p.onClose(func() error { p.Durable.Close(); return nil })
	return nil
}

// resumeDurable continues the durable executions of an earlier process: in the background, or before it returns, as
// Config says.
func (p *Platform) resumeDurable(ctx context.Context) error {
	if err := p.restoreDurableHolds(); err != nil {
		return err
	}
	p.Durable.Resume()
	if p.cfg.RecoverInBackground {
		return nil
	}
	return p.Durable.AwaitRecovery(ctx)
}

// awaitCall waits until a durable execution may call a function; see Platform.LimitCalls.
func (p *Platform) awaitCall(ctx context.Context, execution, function string) error {
	e, err := p.engines.open(scopeOf(execution))
	if err != nil {
		return ctx.Err() // the limits are unknown, and why is reported
	}
	return e.AwaitCall(ctx, execution, function)
}

// durableResumed notes the end of the recovery of durable executions. If the journal cannot be read, the platform is
// broken.
func (p *Platform) durableResumed(err error) {
	if err != nil {
		p.reportBroken(err)
	}
}

// trackDurable counts the retries of the steps of a durable execution as they happen, as track does for executions of
// Step Functions.
func (p *Platform) trackDurable(x *journal.Execution, past []history.Event) func([]history.Event) {
	live := retrymetrics.NewLive(x.ARN, append([]retrymetrics.Target{&p.metrics.Collector}, p.cfg.Counts...)...)
	live.Skip(past)
	return func(steps []history.Event) {
		for i := range steps {
			live.Read(&steps[i])
		}
		live.Flush()
		if n := len(steps); n > 0 && steps[n-1].Type.Terminal() {
			live.Close()
		}
	}
}

// durableChanged announces and counts the events of a step of a durable execution.
func (p *Platform) durableChanged(x *journal.Execution, steps []history.Event) {
	p.changes.follow(x, steps)
	if p.cfg.FollowDurable != nil {
		p.cfg.FollowDurable(x, steps)
	}
	for i := range steps {
		p.meter.durableExecution(x, &steps[i])
		p.announceDurable(x, &steps[i])
	}
}

// tracked returns the time before which the engines and the durable executions have passed every event to track; see
// engines.tracked.
func (p *Platform) tracked() (before time.Time, all, ok bool) {
	if p.Durable.Recovering() {
		return time.Time{}, false, false
	}
	before, all, ok = p.engines.tracked()
	at, waits := p.Durable.Tracked()
	if at.Before(before) {
		before = at
	}
	return before, all && !waits, ok
}

// durableEnded records what a durable execution used of its limits, and passes the execution to Config.Observe.
func (p *Platform) durableEnded(x *journal.Execution, all []history.Event, operations, bytes int) {
	if of, ok := durableMeasure(x); ok {
		at := all[len(all)-1].At()
		p.meter.add(of, at, "DurableExecutionOperations", "Count", float64(operations))
		p.meter.add(of, at, "DurableExecutionStorageWrittenBytes", "Bytes", float64(bytes))
	}
	p.tracer.Observe(x, all)
	if p.cfg.Observe != nil {
		p.cfg.Observe(x, all)
	}
}

// executionTracer implements durablefunctions.Tracer.
type executionTracer struct{ *tracing.Tracer }

// Sample implements durablefunctions.Tracer. Executions are sampled as invocations of their functions are.
func (t executionTracer) Sample(v durablefunctions.Version) bool {
	return t.SampleFunction(v.Scope, v.Function, v.Scope.ARN("lambda", "function:"+v.Function))
}

// Segment implements durablefunctions.Tracer.
func (executionTracer) Segment(execution, operation string) string {
	return tracing.SegmentID(execution, operation)
}

// durableStatus maps the events that start and end a durable execution to its status, and to the metrics that count
// them.
var durableStatus = map[history.Type]struct{ status, metric string }{
	history.ExecutionStarted:   {"RUNNING", "DurableExecutionStarted"},
	history.ExecutionSucceeded: {"SUCCEEDED", "DurableExecutionSucceeded"},
	history.ExecutionFailed:    {"FAILED", "DurableExecutionFailed"},
	history.ExecutionTimedOut:  {"TIMED_OUT", "DurableExecutionTimedOut"},
	history.ExecutionAborted:   {"STOPPED", "DurableExecutionStopped"},
}

// announceDurable sends the EventBridge event of a durable execution whose status has changed.
func (p *Platform) announceDurable(x *journal.Execution, e *history.Event) {
	change, ok := durableStatus[e.Type]
	scope := scopeOf(x.ARN)
	if !ok || p.Events == nil || !p.Events.Listens(scope) {
		return
	}
	moment := func(t time.Time) jsonvalue.Value {
		return jsonvalue.OfString(t.UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	const members = 7
	b := jsonvalue.NewObject(members)
	b.Set("version", jsonvalue.OfString("0"))
	b.Set("durableExecutionArn", jsonvalue.OfString(x.ARN))
	b.Set("durableExecutionName", jsonvalue.OfString(x.Name))
	b.Set("functionArn", jsonvalue.OfString(x.VersionARN))
	b.Set("status", jsonvalue.OfString(change.status))
	b.Set("startTimestamp", moment(x.Start))
	if e.Type.Terminal() {
		b.Set("endTimestamp", moment(e.At()))
	}
	p.Events.Announce(events.Announcement{Scope: scope, Source: "aws.lambda", DetailType: "Durable Execution Status Change",
		At: e.At(), Resources: []string{}, Detail: b.Value()})
}

const namespaceOfLambda = "AWS/Lambda"

// durableMeasure returns the measure of the function of a durable execution; ok is false if its ARN is damaged.
func durableMeasure(x *journal.Execution) (of measure, ok bool) {
	n, err := invocation.ParseName(x.MachineARN, "")
	return measure{scope: scopeOf(x.ARN), namespace: namespaceOfLambda, dimension: "FunctionName", resource: n.Function}, err == nil
}

// durableExecution records the AWS/Lambda metrics of an event that starts or ends a durable execution.
func (m *meter) durableExecution(x *journal.Execution, e *history.Event) {
	change, ok := durableStatus[e.Type]
	if !ok {
		return
	}
	of, ok := durableMeasure(x)
	if !ok {
		return
	}
	m.add(of, e.At(), change.metric, "Count", 1)
	if e.Type.Terminal() {
		m.add(of, e.At(), "DurableExecutionDuration", "Milliseconds", milliseconds(e.At().Sub(x.Start)))
	}
}

// mostDurable is the quota of an AWS account for running durable executions.
const mostDurable = 1_000_000

// measureDurable records the number of running durable executions in each account and region, unless some have not been
// recovered yet.
func (m *meter) measureDurable(at time.Time) {
	d := m.durable.Load()
	if d == nil || d.Recovering() {
		return
	}
	for scope, n := range d.Running() {
		of := measure{scope: scope, namespace: namespaceOfLambda}
		m.add(of, at, "ApproximateRunningDurableExecutions", "Count", float64(n))
		m.add(of, at, "ApproximateRunningDurableExecutionsUtilization", "Percent", 100*float64(n)/mostDurable)
	}
}
