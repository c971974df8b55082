package retrymetrics

import "slices"

// The metrics. RetryAttempts, RetrySuccess, RetryFailure, RetryDelay and CircuitBreakerState come from the source
// design.
var (
	TaskAttempts = declare("TaskAttempts", Count, FullLog, added,
		"Attempts of tasks: first attempts and retries.", ByMachine, ByState)
	TaskFailures = declare("TaskFailures", Count, ErrorLog, added,
		"Attempts that failed, whether or not another attempt followed.", ByMachine, ByState, ByError, ByStateAndError)
	RetryAttempts = declare("RetryAttempts", Count, FullLog, added,
		"Retries: attempts that followed a failed one, counted under the error of the failed one.", ByMachine, ByState, ByError,
		ByStateAndError)
	RetrySuccess = declare("RetrySuccess", Count, FullLog, added,
		"Retries that succeeded, counted under the error they recovered from.", ByMachine, ByState, ByError)
	RetryFailure = declare("RetryFailure", Count, FullLog, added,
		"Retries that failed and were not followed by another: the retries were exhausted, or the last error is not retried.",
		ByMachine, ByState, ByError)
	RetryDelay = declare("RetryDelay", Seconds, FullLog, distribution,
		"Actual time between a failure and the next attempt, to two significant digits.", ByMachine,
		ByState)
	AttemptsPerTask = declare("AttemptsPerTask", Count, FullLog, distribution,
		"Attempts that one task took, counted when the task ended: with success, or with a failure that no attempt followed.",
		ByMachine, ByState)
	Throttles = declare("Throttles", Count, ErrorLog, added,
		"Attempts refused because of their rate or concurrency. The function never received them.", ByMachine, ByState)
	Timeouts = declare("Timeouts", Count, ErrorLog, added,
		"Attempts ended by a timeout or a missing heartbeat. The function may have continued.", ByMachine, ByState)
	CircuitBreakerState = declare("CircuitBreakerState", None, ErrorLog, highest,
		"1 when an open circuit breaker refused an attempt, or was open in that minute while an execution ran; 0 when an attempt was let through and succeeded (level ALL only). The highest value of a period.",
		ByMachine, ByState)
	ExecutionsSucceeded = declare("ExecutionsSucceeded", Count, FullLog, added,
		"Executions that succeeded. In the CSV import, each is one file.", ByMachine)
	ExecutionsFailed = declare("ExecutionsFailed", Count, ErrorLog, added,
		"Executions that failed, timed out or were aborted.", ByMachine)
	ExecutionsRefused = declare("ExecutionsRefused", Count, ErrorLog, added,
		"Of the failed executions, those that failed because of their file: it was rejected as a whole, or too many of its rows were not applied. In an import of many files, those that failed because of the list, or because the imports of files failed, which are counted themselves.",
		ByMachine)
	ChildExecutionsSucceeded = declare("ChildExecutionsSucceeded", Count, FullLog, added,
		"Child executions of distributed Maps that succeeded. In the CSV import, each is a batch of rows.", ByMachine)
	ChildExecutionsFailed = declare("ChildExecutionsFailed", Count, ErrorLog, added,
		"Child executions of distributed Maps that failed, timed out or were aborted.", ByMachine)
	BatchesInTime = declare("BatchesInTime", Count, FullLog, added,
		"Child executions that succeeded within the objective's time, 15 minutes. Those that check a range of a file or import one of many files do not count.", ByMachine)
	BatchesLate = declare("BatchesLate", Count, FullLog, added,
		"Child executions that failed, or took longer than the objective's time; those that are still running count when the time is over.",
		ByMachine)
	UnpairedEvents = declare("UnpairedEvents", Count, FullLog, added,
		"Records of the log that did not arrive in time, or were too many to keep: retries next to them may be missing. Complete histories have none.",
		ByMachine)
	RowsApplied = declare("RowsApplied", Count, Summary, added,
		"Rows that were counted in the database.", ByMachine)
	RowsAlreadyApplied = declare("RowsAlreadyApplied", Count, Summary, added,
		"Rows that another execution had counted before.", ByMachine)
	RowsRejected = declare("RowsRejected", Count, Summary, added,
		"Rows that a business rule rejects.", ByMachine)
	RowsDeadLettered = declare("RowsDeadLettered", Count, Summary, added,
		"Rows given up: retries exhausted, or not worth it.", ByMachine)
	RowsRetried = declare("RowsRetried", Count, Summary, added,
		"Rows that were retried, counted under the error of the attempt before: those that a batch left to be processed one by one, and those that failed after more than one attempt.",
		ByMachine, ByError)
	RowsRecovered = declare("RowsRecovered", Count, Summary, added,
		"Of the rows that a batch left to be processed one by one, those that were finally applied.", ByMachine)
	SharedStateUnavailable = declare("SharedStateUnavailable", Count, Functions, added,
		"How often a function could not reach the shared state of its callee's breaker, and therefore refused nothing.",
		ByMachine,
		ByState)
	ControllerChanges = declare("ControllerChanges", Count, Functions, added,
		"Changes that the controller made to Retry arrays and to the concurrency of Map Runs.", ByMachine, ByState)
	ControllerProposals = declare("ControllerProposals", Count, Functions, added,
		"Changes that the controller proposed in a dry run and did not make. A proposal that stays the same counts once.",
		ByMachine, ByState)
	RetryModelBrier = declare("RetryModelBrier", None, Functions, highest,
		"Brier score of the model of retry success on held-out retries, those of the last 30 % of the time. Lower is better. Published once a day, when the model is trained.",
		ByMachine)
	BaseRateBrier = declare("BaseRateBrier", None, Functions, highest,
		"Brier score on the same retries of predicting the base rate for each.", ByMachine)
	RetryModelUsed = declare("RetryModelUsed", None, Functions, highest,
		"1 if the model predicts better than the base rate, so that functions use it for rows that have a value; otherwise 0, and functions use the measured rates.",
		ByMachine)
	ConfiguredRetries = declare("ConfiguredRetries", Count, Definition, highest,
		"Retries that a state's Retry array, as configured now, allows one task when errors alternate.", ByState)
	ConfiguredWait = declare("ConfiguredWait", Seconds, Definition, highest,
		"The longest total wait of these retries.", ByState)
)

// The metrics published by AWS services that alarms watch and the controller measures.
var (
	MessagesWaiting = vended("AWS/SQS", "ApproximateNumberOfMessagesVisible", Count, Maximum,
		"Messages in the queue of events for which no execution could be started.", ByQueue)
	FunctionErrors = vended("AWS/Lambda", "Errors", Count, Sum,
		"Invocations of a function that failed.", ByFunction)
	FunctionInvocations = vended("AWS/Lambda", "Invocations", Count, Sum,
		"Invocations of a function.", ByFunction)
	FunctionDuration = vended("AWS/Lambda", "Duration", Milliseconds, Average,
		"How long invocations of a function take.", ByFunction)
	FunctionConcurrency = vended("AWS/Lambda", "ConcurrentExecutions", Count, Maximum,
		"Concurrent invocations of a function.", ByFunction)
	StatesExecutionsFailed = vended("AWS/States", "ExecutionsFailed", Count, Sum,
		"Failed executions, as counted by Step Functions.", ByMachineARN)
	StatesExecutionsTimedOut = vended("AWS/States", "ExecutionsTimedOut", Count, Sum,
		"Executions that timed out.", ByMachineARN)
	StatesExecutionsAborted = vended("AWS/States", "ExecutionsAborted", Count, Sum,
		"Executions that a user or a program stopped.", ByMachineARN)
	StatesExecutionThrottled = vended("AWS/States", "ExecutionThrottled", Count, Sum,
		"State transitions and retries of a state machine that Step Functions delayed because of the account's quota.",
		ByMachineARN)
	StatesExecutionTime = vended("AWS/States", "ExecutionTime", Milliseconds, P99,
		"How long executions took, from start to end.", ByMachineARN)
	StatesThrottledEvents = vended("AWS/States", "ThrottledEvents", Count, Sum,
		"Requests that the account's quota of a Step Functions service metric, such as StateTransition, delayed.",
		ByServiceMetric)
	StatesMapRunBacklog = vended("AWS/States", "ApproximateMapRunBacklogSize", Count, Maximum,
		"Map Runs of the account that wait because 1,000 are open.", AccountWide)
	NotificationsFailed = vended("AWS/SNS", "NumberOfNotificationsFailed", Count, Sum,
		"Messages that a topic could not deliver to a subscriber.", ByTopic)
	DatabaseUtilisation = vended("AWS/RDS", "ACUUtilization", Percent, Average,
		"Share of its maximum capacity that an Aurora Serverless cluster uses.", ByCluster)
)

var vendedMetrics = []*Metric{
	MessagesWaiting, FunctionErrors, FunctionInvocations, FunctionDuration, FunctionConcurrency,
	StatesExecutionsFailed, StatesExecutionsTimedOut,
	StatesExecutionsAborted, StatesExecutionThrottled, StatesExecutionTime, StatesThrottledEvents, StatesMapRunBacklog,
	NotificationsFailed,
	DatabaseUtilisation,
}

var catalogue = []*Metric{
	TaskAttempts, TaskFailures, RetryAttempts, RetrySuccess, RetryFailure, RetryDelay, AttemptsPerTask, Throttles,
	Timeouts, CircuitBreakerState,
	ExecutionsSucceeded, ExecutionsFailed, ExecutionsRefused, ChildExecutionsSucceeded, ChildExecutionsFailed,
	BatchesInTime, BatchesLate, UnpairedEvents, RowsApplied, RowsAlreadyApplied, RowsRejected, RowsDeadLettered,
	RowsRetried, RowsRecovered,
	SharedStateUnavailable, ControllerChanges, ControllerProposals,
	RetryModelBrier, BaseRateBrier, RetryModelUsed,
	ConfiguredRetries, ConfiguredWait,
}

func declare(name string, unit Unit, origin Origin, how mode, text string, in ...Set) *Metric {
	stat := Sum
	switch how {
	case highest:
		stat = Maximum
	case distribution:
		stat = Average
	case added:
	}
	return &Metric{namespace: Namespace, name: name, text: text, unit: unit, stat: stat, sets: in, origin: origin,
		mode: how}
}

// vended declares a metric that an AWS service publishes.
func vended(namespace, name string, unit Unit, stat Stat, text string, in ...Set) *Metric {
	return &Metric{namespace: namespace, name: name, text: text, unit: unit, stat: stat, sets: in, origin: Service}
}

// Catalogue returns every metric that stepback publishes, in the order of the documentation.
func Catalogue() []*Metric { return slices.Clone(catalogue) }

// Named returns the metric with a name. Metrics that stepback publishes take precedence over those of AWS. ok is
// false if there is none.
func Named(name string) (*Metric, bool) {
	all := namesakes(name)
	if len(all) == 0 {
		return nil, false
	}
	return all[0], true
}

// namesakes returns the metrics with a name, in all namespaces. Those that stepback publishes come first.
func namesakes(name string) []*Metric {
	return slices.DeleteFunc(slices.Concat(catalogue, vendedMetrics), func(m *Metric) bool { return m.name != name })
}
