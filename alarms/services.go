package alarms

import (
	"time"

	"stepback/retrymetrics"
)

// The alarms that the composite's rule combines.
const (
	executionsEndedBadly = "executions-ended-badly"
	metricsSilent        = "metrics-silent"
)

// services returns alarms on the metrics that AWS services publish about the state machine and the resources around
// it.
func (o Options) services() []Alarm {
	var all []Alarm
	add := func(named string, m *retrymetrics.Metric, set retrymetrics.Set, a Alarm) {
		if named == "" {
			return
		}
		series := m.In(set, named)
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
		all = append(all, a)
	}
	add(o.MachineARN, retrymetrics.StatesExecutionsFailed, retrymetrics.ByMachineARN, Alarm{
		Name: executionsEndedBadly, Event: true,
		Meaning: "A file's execution failed, be it for what is in the file or for the system. It pages only while the metrics function is silent, which tells the two apart.",
		First:   "Open the execution; its error says whether the file was refused (ask its sender) or the system failed.",
	})
	add(o.MachineARN, retrymetrics.StatesExecutionsTimedOut, retrymetrics.ByMachineARN, Alarm{
		Name: "executions-timed-out", Event: true, Pages: true,
		Meaning: "An execution ran for as long as it may and was ended: what it had not done is not done.",
		First:   "See in the Map Run how far it came and what it waited for, mend that, then redrive the execution.",
	})
	add(o.MachineARN, retrymetrics.StatesExecutionsAborted, retrymetrics.ByMachineARN, Alarm{
		Name: "executions-aborted", Event: true,
		Meaning: "Somebody stopped an execution.",
		First:   "Find out who and why (CloudTrail has the call StopExecution); redrive the execution if its file is to be imported.",
	})
	add(o.UndeliveredQueue, retrymetrics.MessagesWaiting, retrymetrics.ByQueue, Alarm{
		Name: "undelivered-events", Pages: true,
		Meaning: "Files arrived for which no execution could be started: nothing imports them.",
		First:   "Read the messages of the queue and mend the cause, then hand them to the start function: stepback redeliver.",
	})
	add(o.MetricsFunction, retrymetrics.FunctionErrors, retrymetrics.ByFunction, Alarm{
		Name: "metrics-failing", Periods: 3, Breaching: 2,
		Meaning: "The function that counts retries fails: while it does, the other alarms may see nothing.",
		First:   "Read the function's log; until it works again, look at the executions themselves.",
	})
	add(o.MetricsFunction, retrymetrics.FunctionInvocations, retrymetrics.ByFunction, Alarm{
		Name: metricsSilent, Comparison: LessThanThreshold, Threshold: 1, Missing: Breaching, Periods: 3, Breaching: 3,
		Meaning: "The function that counts retries was not invoked for 15 minutes, although a schedule invokes it every 5: whatever goes wrong now goes unseen.",
		First:   "See whether the rule of its schedule is enabled and whether the function can be invoked; until then, look at the executions themselves.",
	})
	add(o.AdaptFunction, retrymetrics.FunctionErrors, retrymetrics.ByFunction, Alarm{
		Name: "adapt-failing", Periods: 3, Breaching: 3,
		Meaning: "The controller of the retries fails: they stay as they are.",
		First:   "Read the function's log; a change that Step Functions refused is there and in the controller's row.",
	})
	add(o.RelayFunction, retrymetrics.FunctionErrors, retrymetrics.ByFunction, Alarm{
		Name: "relay-failing", Periods: 3, Breaching: 3,
		Meaning: "The relay of the outbox fails: messages wait, and none is lost.",
		First:   "Read the function's log: the database or the receiver is out of reach.",
	})
	for _, topic := range []struct{ name, alarm string }{
		{o.PagesTopic, "pages-failed"}, {o.NoticesTopic, "notices-failed"}, {o.ImportsTopic, "imports-failed"},
	} {
		add(topic.name, retrymetrics.NotificationsFailed, retrymetrics.ByTopic, Alarm{
			Name: topic.alarm, Event: true,
			Meaning: "The topic " + topic.name + " could not deliver a message to a subscriber.",
			First:   "See in the queue of undelivered notifications whom it did not reach, and mend or replace the subscription.",
		})
	}
	add(o.NotificationQueue, retrymetrics.MessagesWaiting, retrymetrics.ByQueue, Alarm{
		Name:    "undelivered-notifications",
		Meaning: "Messages that reached no subscriber wait in the queue: somebody was not told.",
		First:   "Read the messages, see to what they tell, mend the subscription, then delete them.",
	})
	add(o.Cluster, retrymetrics.DatabaseUtilisation, retrymetrics.ByCluster, Alarm{
		Name: "database-at-its-limit", Threshold: 90, Periods: 3, Breaching: 3,
		Meaning: "The database has used more than 90 % of its largest capacity for 15 minutes: rows wait for it.",
		First:   "Lower Concurrency of the environment, or raise MaxCapacity of its database.",
	})
	return all
}
