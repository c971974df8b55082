package local

import (
	"strings"
	"time"

	"stepback/aws"
	"stepback/engine/history"
	"stepback/engine/journal"
)

const namespaceOfStates = "AWS/States"

// ended maps statuses to the metrics of AWS/States that count ends, without the prefix "Executions" or
// "RedrivenExecutions".
var ended = map[history.Status]string{
	history.Succeeded: "Succeeded", history.Failed: "Failed", history.TimedOut: "TimedOut", history.Aborted: "Aborted",
}

// states records the metrics of an ended execution and its tasks, as AWS/States does. AWS counts child executions by
// their Map Run; here they are not counted, but their tasks are.
func (p *Platform) states(x *journal.Execution, events []history.Event) {
	name, ok := ended[x.Status]
	arn, valid := aws.ParseARN(x.MachineARN)
	if !ok || !valid {
		return
	}
	p.meter.tasks(arn.Scope(), events)
	if x.MapRunARN != "" {
		return
	}
	of := measure{scope: arn.Scope(), namespace: namespaceOfStates, dimension: "StateMachineArn", resource: x.MachineARN}
	if x.RedriveCount > 0 {
		p.meter.add(of, x.Stop, "ExecutionsRedriven", "Count", 1)
		p.meter.add(of, x.Stop, "RedrivenExecutions"+name, "Count", 1)
		return
	}
	p.meter.add(of, x.Start, "ExecutionsStarted", "Count", 1)
	p.meter.add(of, x.Stop, "Executions"+name, "Count", 1)
	p.meter.add(of, x.Stop, "ExecutionTime", "Milliseconds", milliseconds(x.Stop.Sub(x.Start)))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// taskKind holds the names that AWS/States uses for a kind of task: its counters, its timers, and the dimension.
type taskKind struct{ counts, times, dimension string }

var (
	activities   = &taskKind{"Activities", "Activity", "ActivityArn"}
	lambdas      = &taskKind{"LambdaFunctions", "LambdaFunction", "LambdaFunctionArn"}
	integrations = &taskKind{"ServiceIntegrations", "ServiceIntegration", "ServiceIntegrationResourceArn"}
)

// taskStep is the meaning of an event for a task's metrics.
type taskStep struct {
	kind *taskKind
	what string // Scheduled, Started, or the outcome; empty if not counted
}

var taskSteps = map[history.Type]taskStep{
	history.ActivityScheduled: {activities, scheduled}, history.ActivityStarted: {activities, started},
	history.ActivitySucceeded: {activities, "Succeeded"}, history.ActivityFailed: {activities, "Failed"},
	history.ActivityTimedOut:        {activities, "TimedOut"},
	history.LambdaFunctionScheduled: {lambdas, scheduled}, history.LambdaFunctionStarted: {lambdas, started},
	history.LambdaFunctionSucceeded: {lambdas, "Succeeded"}, history.LambdaFunctionFailed: {lambdas, "Failed"},
	history.LambdaFunctionTimedOut: {lambdas, "TimedOut"},
	history.TaskScheduled:          {integrations, scheduled}, history.TaskStarted: {integrations, started},
	history.TaskSubmitted: {kind: integrations}, history.TaskSucceeded: {integrations, "Succeeded"},
	history.TaskFailed: {integrations, "Failed"}, history.TaskTimedOut: {integrations, "TimedOut"},
}

const scheduled, started = "Scheduled", "Started"

// attempt is a task between its first and its last event.
type attempt struct {
	measure
	kind               *taskKind
	scheduled, started time.Time
}

// tasks records the metrics of an execution's tasks from its events since the last redrive; earlier ones have already
// been counted.
func (m *meter) tasks(scope aws.Scope, events []history.Event) {
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Type == history.ExecutionRedriven {
			events = events[i+1:]
			break
		}
	}
	var under map[int64]*attempt // by the ID of each task's latest event
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range events {
		e := &events[i]
		step, ok := taskSteps[e.Type]
		if !ok {
			continue
		}
		var a *attempt
		if step.what == scheduled {
			a = &attempt{kind: step.kind, scheduled: e.At()}
			a.measure = measure{scope: scope, namespace: namespaceOfStates, dimension: step.kind.dimension,
				resource: resourceOf(e, scope)}
			if under == nil {
				under = map[int64]*attempt{}
			}
		} else if a = under[e.Previous]; a == nil {
			continue // its start was counted before the redrive
		}
		delete(under, e.Previous)
		at := e.At()
		if step.what != "" {
			m.summary(a.measure, at, step.kind.counts+step.what, "Count").Add(1, 1)
		}
		switch step.what {
		case scheduled, "":
			under[e.ID] = a
		case started:
			a.started = at
			under[e.ID] = a
			m.summary(a.measure, at, step.kind.times+"ScheduleTime", "Milliseconds").Add(milliseconds(at.Sub(a.scheduled)), 1)
		default:
			if e.More != nil && e.More.Failure.Name == "States.HeartbeatTimeout" && step.kind == activities {
				m.summary(a.measure, at, "ActivitiesHeartbeatTimedOut", "Count").Add(1, 1)
			}
			if !a.started.IsZero() {
				m.summary(a.measure, at, step.kind.times+"RunTime", "Milliseconds").Add(milliseconds(at.Sub(a.started)), 1)
			}
			m.summary(a.measure, at, step.kind.times+"Time", "Milliseconds").Add(milliseconds(at.Sub(a.scheduled)), 1)
		}
	}
}

// resourceOf returns the ARN of the callee of a task: the function, the activity, or the integration.
func resourceOf(scheduled *history.Event, scope aws.Scope) string {
	if scheduled.More == nil {
		return ""
	}
	if strings.HasPrefix(scheduled.More.Resource, "arn:") {
		return scheduled.More.Resource
	}
	return "arn:" + scope.Partition() + ":states:::" + scheduled.More.ResourceType + ":" + scheduled.More.Resource
}

// Default limits of an AWS account.
const (
	openExecutions = 1_000_000
	openMapRuns    = 1000
)

// measureEngines records what runs in each account and region that has ever run something.
func (m *meter) measureEngines(at time.Time) {
	all := m.engines.Load()
	if all == nil {
		return
	}
	for scope, e := range all.byScope() {
		of := measure{scope: scope, namespace: namespaceOfStates}
		var pending int64
		runs := e.MapRuns()
		for _, c := range runs {
			pending += c.Executions.Pending
		}
		m.add(of, at, "OpenExecutionCount", "Count", float64(e.Open()))
		m.add(of, at, "OpenExecutionLimit", "Count", openExecutions)
		m.add(of, at, "ApproximateOpenMapRunCount", "Count", float64(len(runs)))
		m.add(of, at, "OpenMapRunLimit", "Count", openMapRuns)
		m.add(of, at, "ApproximateMapRunBacklogSize", "Count", float64(pending))
	}
}
