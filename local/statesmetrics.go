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

// executionEnded measures an execution that has ended: its retries, for the metric data of the data directory, and what
// AWS/States measures. It reads the history once for both.
func (p *Platform) executionEnded(x *journal.Execution, events []history.Event) {
	arn, valid := aws.ParseARN(x.MachineARN)
	status, ended := ended[x.Status]
	measured := valid && ended
	retries := p.metrics.Begin(x.ARN)
	var attempts history.AttemptReader
	since := sinceRedrive(events)
	p.meter.mu.Lock()
	for i := range events {
		c := attempts.Read(&events[i])
		if i < since {
			continue
		}
		retries.Count(c)
		if measured && c.Attempt != nil {
			p.meter.attempt(arn.Scope(), c.Attempt)
		}
	}
	p.meter.mu.Unlock()
	retries.End(&attempts, events)
	if measured {
		p.meter.execution(x, arn.Scope(), status)
	}
}

// sinceRedrive is the index of the event behind the last redrive; 0 without one. What is before has been measured when
// the execution ended before.
func sinceRedrive(events []history.Event) int {
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Type == history.ExecutionRedriven {
			return i + 1
		}
	}
	return 0
}

// execution measures an execution, as AWS/States does. Child executions of Map Runs count by their Map Run there, and
// here not at all; their tasks count.
func (m *meter) execution(x *journal.Execution, scope aws.Scope, status string) {
	if x.MapRunARN != "" {
		return
	}
	of := measure{scope: scope, namespace: namespaceOfStates, dimension: "StateMachineArn", resource: x.MachineARN}
	if x.RedriveCount > 0 {
		m.add(of, x.Stop, "ExecutionsRedriven", "Count", 1)
		m.add(of, x.Stop, "RedrivenExecutions"+status, "Count", 1)
		return
	}
	m.add(of, x.Start, "ExecutionsStarted", "Count", 1)
	m.add(of, x.Stop, "Executions"+status, "Count", 1)
	m.add(of, x.Stop, "ExecutionTime", "Milliseconds", milliseconds(x.Stop.Sub(x.Start)))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// taskKinds are the names that AWS/States has for tasks by their kind: of what counts them, of what times them, and of
// the dimension.
var taskKinds = [...]struct{ counts, times, dimension string }{
	history.Integration:    {"ServiceIntegrations", "ServiceIntegration", "ServiceIntegrationResourceArn"},
	history.LambdaFunction: {"LambdaFunctions", "LambdaFunction", "LambdaFunctionArn"},
	history.Activity:       {"Activities", "Activity", "ActivityArn"},
}

// attempt measures the latest step of an attempt. mu is held.
func (m *meter) attempt(scope aws.Scope, a *history.Attempt) {
	if a.Call == nil {
		return // it is unknown what the attempt calls
	}
	kind := &taskKinds[a.Task]
	of := measure{scope: scope, namespace: namespaceOfStates, dimension: kind.dimension,
		resource: resourceOf(a.Call, scope)}
	count := func(at history.Moment, name string) { m.summary(of, at.At(), name, "Count").Add(1, 1) }
	took := func(from, to history.Moment, name string) {
		m.summary(of, to.At(), kind.times+name, "Milliseconds").Add(milliseconds(time.Duration(to.Time-from.Time)), 1)
	}
	switch a.Step {
	case history.StepScheduled:
		count(a.Scheduled, kind.counts+"Scheduled")
		return
	case history.StepStarted:
		count(a.Started, kind.counts+"Started")
		took(a.Scheduled, a.Started, "ScheduleTime")
		return
	case history.StepSucceeded:
		count(a.Ended, kind.counts+"Succeeded")
	case history.StepFailed:
		if a.TimedOut {
			count(a.Ended, kind.counts+"TimedOut")
		} else {
			count(a.Ended, kind.counts+"Failed")
		}
		if a.Task == history.Activity && a.Failure.Name == "States.HeartbeatTimeout" {
			count(a.Ended, "ActivitiesHeartbeatTimedOut")
		}
	default:
		return
	}
	if a.Started.ID != 0 {
		took(a.Started, a.Ended, "RunTime")
	}
	took(a.Scheduled, a.Ended, "Time")
}

// resourceOf returns the ARN of the callee of a task: the function, the activity, or the integration.
func resourceOf(call *history.Details, scope aws.Scope) string {
	if strings.HasPrefix(call.Resource, "arn:") {
		return call.Resource
	}
	return "arn:" + scope.Partition() + ":states:::" + call.ResourceType + ":" + call.Resource
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
