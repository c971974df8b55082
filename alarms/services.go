package alarms

import (
	"fmt"
	"time"

	"stepback/retrymetrics"
)

// The alarms that the composite's rule combines.
const (
	executionsEndedBadly = "executions-ended-badly"
	metricsSilent        = "metrics-silent"
)

// ofService returns an alarm on a metric of an AWS service, with defaults for what it leaves open: a period of five
// minutes in which the metric's own statistic is above the threshold; missing data do not breach. named is the value of
// the set's dimension.
func ofService(named string, m *retrymetrics.Metric, set retrymetrics.Set, a Alarm) Alarm {
	series := m.In(set, named)
	if set == retrymetrics.AccountWide {
		series = m.In(set)
	}
	a.Series, a.Stat, a.Period = &series, m.Stat(), 5*time.Minute
	if a.Comparison == "" {
		a.Comparison = GreaterThanThreshold
	}
	if a.Missing == "" {
		a.Missing = NotBreaching
	}
	if a.Periods == 0 {
		a.Periods, a.Breaching = 1, 1
	}
	return a
}

// services returns alarms on the metrics that AWS services publish about the state machine and the resources around
// it.
func (o Options) services() []Alarm {
	var all []Alarm
	add := func(named string, m *retrymetrics.Metric, set retrymetrics.Set, a Alarm) {
		if named != "" {
			all = append(all, ofService(named, m, set, a))
		}
	}
	add(o.MachineARN, retrymetrics.StatesExecutionsFailed, retrymetrics.ByMachineARN, Alarm{
		Name: executionsEndedBadly, Event: true,
		Meaning: "A file's execution failed, because of the file or because of the system. It pages only while the metrics function is silent, because that function tells the two apart.",
		First:   "Open the execution; its error shows whether the file was rejected (contact its sender) or the system failed.",
	})
	add(o.MachineARN, retrymetrics.StatesExecutionsTimedOut, retrymetrics.ByMachineARN, Alarm{
		Name: "executions-timed-out", Event: true, Page: PageExecutions,
		Meaning: "An execution reached its timeout and was ended: the rest of its work is not done.",
		First:   "See in the Map Run how far it got and what it waited for, fix that, then redrive the execution.",
	})
	add(o.MachineARN, retrymetrics.StatesExecutionsAborted, retrymetrics.ByMachineARN, Alarm{
		Name: "executions-aborted", Event: true,
		Meaning: "A user or a program stopped an execution.",
		First:   "Find out who stopped it and why (CloudTrail has the call StopExecution); redrive the execution if its file is to be imported.",
	})
	add(o.MachineARN, retrymetrics.StatesExecutionThrottled, retrymetrics.ByMachineARN, Alarm{
		Name: "executions-throttled", Periods: 3, Breaching: 2,
		Meaning: "Step Functions delays transitions of the executions: the account's rate of state transitions is used up.",
		First:   "Find out why batches leave so many rows to be processed one by one; otherwise request a higher quota.",
	})
	if o.MachineARN != "" {
		add("StateTransition", retrymetrics.StatesThrottledEvents, retrymetrics.ByServiceMetric, Alarm{
			Name: "transitions-throttled", Periods: 3, Breaching: 2,
			Meaning: "The account's rate of state transitions is used up, by this state machine or by another.",
			First:   "See in Service Quotas and in the metrics of the other state machines what uses it; request a higher quota.",
		})
	}
	add(o.MachineARN, retrymetrics.StatesMapRunBacklog, retrymetrics.AccountWide, Alarm{
		Name: "map-runs-backlogged", Periods: 3, Breaching: 2,
		Meaning: "Map Runs wait to begin, because the account has 1,000 open ones: files that arrive are not imported yet.",
		First:   "See which state machines have open Map Runs; stop those that are not needed, or request a higher quota.",
	})
	if o.Timeout > 0 {
		add(o.MachineARN, retrymetrics.StatesExecutionTime, retrymetrics.ByMachineARN, Alarm{
			Name: "slow-executions", Event: true, Threshold: float64(o.Timeout.Milliseconds() / 2),
			Meaning: fmt.Sprintf("An execution took more than half of the state machine's timeout (%v).", o.Timeout),
			First:   "See in its Map Run what the rows waited for; a larger file of this kind would be ended by the timeout.",
		})
	}
	add(o.UndeliveredQueue, retrymetrics.MessagesWaiting, retrymetrics.ByQueue, Alarm{
		Name: "undelivered-events", Page: PageEvents,
		Meaning: "Files arrived for which no execution could be started: nothing imports them.",
		First:   "Read the messages of the queue and fix the cause, then send them to the start function with cdk/redeliver.sh.",
	})
	add(o.MetricsFunction, retrymetrics.FunctionErrors, retrymetrics.ByFunction, Alarm{
		Name: "metrics-failing", Periods: 3, Breaching: 2,
		Meaning: "The function that counts retries fails: meanwhile the other alarms may not fire.",
		First:   "Read the function's log; until it works again, look at the executions themselves.",
	})
	add(o.MetricsFunction, retrymetrics.FunctionInvocations, retrymetrics.ByFunction, Alarm{
		Name: metricsSilent, Comparison: LessThanThreshold, Threshold: 1, Missing: NoData, Silence: true,
		Periods: 3, Breaching: 3,
		Meaning: "The function that counts retries was not invoked for 15 minutes, although a schedule invokes it each minute: no other alarm on its metrics can fire.",
		First:   "Check whether the rules of its schedules are enabled and whether the function can be invoked; until then, look at the executions themselves.",
	})
	add(o.AdaptFunction, retrymetrics.FunctionErrors, retrymetrics.ByFunction, Alarm{
		Name: "adapt-failing", Periods: 3, Breaching: 3,
		Meaning: "The controller of the retries fails: the retries stay unchanged.",
		First:   "Read the function's log; a change that Step Functions rejected is there and in the controller's row.",
	})
	add(o.RelayFunction, retrymetrics.FunctionErrors, retrymetrics.ByFunction, Alarm{
		Name: "relay-failing", Periods: 3, Breaching: 3,
		Meaning: "The relay of the outbox fails: messages wait, and none is lost.",
		First:   "Read the function's log: the relay cannot reach the database or the receiver.",
	})
	add(o.PruneFunction, retrymetrics.FunctionErrors, retrymetrics.ByFunction, Alarm{
		Name: "prune-failing", Event: true,
		Meaning: "Old versions of the state machine and its functions could not be deleted; Step Functions refuses changes at 1,000 versions.",
		First:   "Read the function's log; the next invocation, a day later, tries again.",
	})
	add(o.TrainFunction, retrymetrics.FunctionErrors, retrymetrics.ByFunction, Alarm{
		Name: "train-failing", Event: true,
		Meaning: "The model of retry success could not be trained; three days after the last training, functions use the measured rates instead.",
		First:   "Read the function's log; the next invocation, a day later, tries again.",
	})
	for _, topic := range []struct{ name, alarm string }{
		{o.PagesTopic, "pages-failed"}, {o.NoticesTopic, "notices-failed"}, {o.ImportsTopic, "imports-failed"},
	} {
		add(topic.name, retrymetrics.NotificationsFailed, retrymetrics.ByTopic, Alarm{
			Name: topic.alarm, Event: true,
			Meaning: "The topic " + topic.name + " could not deliver a message to a subscriber.",
			First:   "Look in the queue of undelivered notifications for the subscriber that was not reached, and fix or replace the subscription.",
		})
	}
	add(o.NotificationQueue, retrymetrics.MessagesWaiting, retrymetrics.ByQueue, Alarm{
		Name:    "undelivered-notifications",
		Meaning: "Messages that reached no subscriber wait in the queue: their recipients do not have them.",
		First:   "Read the messages, act on them, fix the subscription, then delete them.",
	})
	add(o.Cluster, retrymetrics.DatabaseUtilisation, retrymetrics.ByCluster, Alarm{
		Name: "database-at-its-limit", Threshold: 90, Periods: 3, Breaching: 3,
		Meaning: "The database has used more than 90 % of its largest capacity for 15 minutes: rows wait for it.",
		First:   "Lower Concurrency of the environment, or raise MaxCapacity of its database.",
	})
	return all
}
