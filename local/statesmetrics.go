package local

import (
	"strings"
	"time"

	"stepback/aws"
	"stepback/engine/history"
	"stepback/engine/journal"
)

const namespaceOfStates = "AWS/States"

// ended maps the events that end an execution to the names of the AWS/States metrics that count them, without the
// prefix "Executions" or "RedrivenExecutions".
var ended = map[history.Type]string{
	history.ExecutionSucceeded: "Succeeded", history.ExecutionFailed: "Failed", history.ExecutionTimedOut: "TimedOut",
	history.ExecutionAborted: "Aborted",
}

// execution records the AWS/States metrics of an execution's event. It ignores child executions of Map Runs, which
// AWS counts under their Map Run; their tasks are counted. mu is held.
func (m *meter) execution(x *journal.Execution, scope aws.Scope, e *history.Event) {
	status, ends := ended[e.Type]
	if x.MapRunARN != "" || !ends && e.Type != history.ExecutionStarted && e.Type != history.ExecutionRedriven {
		return
	}
	of := measure{scope: scope, namespace: namespaceOfStates, dimension: "StateMachineArn", resource: x.MachineARN}
	count := func(name string) { m.summary(of, e.At(), name, "Count").Add(1, 1) }
	switch {
	case e.Type == history.ExecutionStarted:
		count("ExecutionsStarted")
	case e.Type == history.ExecutionRedriven:
		count("ExecutionsRedriven")
	case x.RedriveCount > 0:
		count("RedrivenExecutions" + status)
	default:
		count("Executions" + status)
		m.summary(of, e.At(), "ExecutionTime", "Milliseconds").Add(milliseconds(e.At().Sub(x.Start)), 1)
	}
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

// measureEngines records the numbers of open executions and Map Runs in each account and region that has an engine. It
// skips engines that have not recovered all executions.
func (m *meter) measureEngines(at time.Time) {
	all := m.engines.Load()
	if all == nil {
		return
	}
	for scope, e := range all.byScope() {
		if e.Recovering() {
			continue
		}
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
