package alarms

import (
	"fmt"
	"time"

	"stepback/retrymetrics"
)

// filesEndedBadly pages only while the metrics function is silent, as executionsEndedBadly does.
const filesEndedBadly = "files-executions-ended-badly"

// files returns the alarms on the state machine that imports many files as one. The alarms on rows, retries and batches
// of the import cover its files, because each is an import of its own.
func (o Options) files() []Alarm {
	if o.FilesMachine == "" {
		return nil
	}
	failed := retrymetrics.FailedBySystem()
	all := []Alarm{{
		Name: "files-executions-failed", Rate: &failed, Machine: o.FilesMachine, Comparison: GreaterThanThreshold,
		Period: 5 * time.Minute, Periods: 1, Breaching: 1, Missing: NotBreaching, Page: PageExecutions, Event: true,
		Meaning: "An import of many files failed, and neither its list nor its files were to blame: some files are not imported, or their results not added up.",
		First:   "Open the execution and read its error; fix the cause, then start the import again: files that were imported are not imported twice.",
	}}
	add := func(m *retrymetrics.Metric, a Alarm) {
		all = append(all, ofService(o.FilesMachineARN, m, retrymetrics.ByMachineARN, a))
	}
	add(retrymetrics.StatesExecutionsFailed, Alarm{
		Name: filesEndedBadly, Event: true,
		Meaning: "An import of many files failed, because of its files or because of the system. It pages only while the metrics function is silent, because that function tells the two apart.",
		First:   "Open the execution; its error shows whether files or the list are to blame (FilesFailed, FilesRejected) or the system.",
	})
	add(retrymetrics.StatesExecutionsTimedOut, Alarm{
		Name: "files-executions-timed-out", Event: true, Page: PageExecutions,
		Meaning: fmt.Sprintf("An import of many files reached its timeout of %g days and was ended: the rest of its files are not imported.", o.FilesTimeout.Hours()/24),
		First:   "See in its Map Run how many files were done and what the others waited for, fix that, then start the import again.",
	})
	add(retrymetrics.StatesExecutionsAborted, Alarm{
		Name: "files-executions-aborted", Event: true,
		Meaning: "A user or a program stopped an import of many files, and with it the imports of files that were running.",
		First:   "Find out who stopped it and why (CloudTrail has the call StopExecution); if its files are to be imported, redrive the imports that were stopped, then start it again.",
	})
	add(retrymetrics.StatesExecutionThrottled, Alarm{
		Name: "files-executions-throttled", Periods: 3, Breaching: 2,
		Meaning: "Step Functions delays transitions of an import of many files: the account's rate of state transitions is used up.",
		First:   "Look at the imports of its files, which use most of that rate; request a higher quota if they need it.",
	})
	add(retrymetrics.StatesExecutionTime, Alarm{
		Name: "files-slow-executions", Event: true, Threshold: float64(o.FilesTimeout.Milliseconds() / 2),
		Meaning: fmt.Sprintf("An import of many files took more than half of its timeout (%v).", o.FilesTimeout),
		First:   "See in its Map Run what the files waited for; import a larger set of files in several parts.",
	})
	return all
}
