package local

import (
	"strings"
	"time"

	"stepback/aws"
	"stepback/engine/history"
	"stepback/engine/journal"
)

const namespaceOfStates = "AWS/States"

// ended are the metrics of AWS/States that count ends, after "Executions" or "RedrivenExecutions".
var ended = map[history.Status]string{
	history.Succeeded: "Succeeded", history.Failed: "Failed", history.TimedOut: "TimedOut", history.Aborted: "Aborted",
}

// states measures an execution that has ended, with its tasks, as AWS/States does. Child executions of Map Runs count
// by their Map Run there, and here not at all; their tasks count.
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

// taskKind is how AWS/States calls the tasks of a kind: what counts them, what times them, and the dimension.
type taskKind struct{ counts, times, dimension string }

var (
	activities   = &taskKind{"Activities", "Activity", "ActivityArn"}
	lambdas      = &taskKind{"LambdaFunctions", "LambdaFunction", "LambdaFunctionArn"}
	integrations = &taskKind{"ServiceIntegrations", "ServiceIntegration", "ServiceIntegrationResourceArn"}
)

// taskStep is what an event says of a task.
type taskStep struct {
	kind *taskKind
	what string // Scheduled, Started, or how it ended; empty for what is not counted
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

// tasks measures the tasks of an execution by its events: those since it was redriven last, for the others have been
// counted.
func (m *meter) tasks(scope aws.Scope, events []history.Event) {
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Type == history.ExecutionRedriven {
			events = events[i+1:]
			break
		}
	}
	var under map[int64]*attempt // by the ID of the latest event of each
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
			continue // its beginning was counted before the execution was redriven
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

// resourceOf is the ARN of what a task calls: that of the function or activity, or that of the integration.
func resourceOf(scheduled *history.Event, scope aws.Scope) string {
	if scheduled.More == nil {
		return ""
	}
	if strings.HasPrefix(scheduled.More.Resource, "arn:") {
		return scheduled.More.Resource
	}
	return "arn:" + scope.Partition() + ":states:::" + scheduled.More.ResourceType + ":" + scheduled.More.Resource
}

// Limits of an account, as AWS has them by default.
const (
	openExecutions = 1_000_000
	openMapRuns    = 1000
)

// measureEngines measures what runs in each account and region that has ever run something.
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
