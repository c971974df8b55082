package local

import (
	"strings"
	"time"

	"stepback/aws"
	"stepback/engine/history"
	"stepback/engine/journal"
)

const namespaceOfStates = "AWS/States"

// ended maps final statuses to the names of the AWS/States metrics that count them, without the prefix "Executions"
// or "RedrivenExecutions".
var ended = map[history.Status]string{
	history.Succeeded: "Succeeded", history.Failed: "Failed", history.TimedOut: "TimedOut", history.Aborted: "Aborted",
}

// executionEnded records the metrics of an execution that has ended: its retries, for the metric data of the data
// directory, and the metrics of AWS/States. It reads the history once for both.
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

// sinceRedrive returns the index of the event after the last redrive, or 0 if there was none. Earlier events were
// measured when the execution ended before the redrive.
func sinceRedrive(events []history.Event) int {
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Type == history.ExecutionRedriven {
			return i + 1
		}
	}
	return 0
}

// execution records the AWS/States metrics of an execution. It ignores child executions of Map Runs, which AWS
// counts under their Map Run; their tasks are counted.
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

// taskKinds lists, for each kind of task, the names that AWS/States uses: the prefix of its counters, the prefix of
// its durations, and the dimension.
var taskKinds = [...]struct{ counts, times, dimension string }{
	history.Integration:    {"ServiceIntegrations", "ServiceIntegration", "ServiceIntegrationResourceArn"},
	history.LambdaFunction: {"LambdaFunctions", "LambdaFunction", "LambdaFunctionArn"},
	history.Activity:       {"Activities", "Activity", "ActivityArn"},
}

// attempt records the metrics of an attempt's latest step. mu is held.
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

// resourceOf returns the ARN of what a task calls: the function, the activity, or the integration.
func resourceOf(call *history.Details, scope aws.Scope) string {
	if strings.HasPrefix(call.Resource, "arn:") {
		return call.Resource
	}
	return "arn:" + scope.Partition() + ":states:::" + call.ResourceType + ":" + call.Resource
}

// openExecutions and openMapRuns are the default limits of an AWS account.
const (
	openExecutions = 1_000_000
	openMapRuns    = 1000
)

// measureEngines records the numbers of open executions and Map Runs in each account and region that has an engine.
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
