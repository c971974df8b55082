package retrymetrics

import "fmt"

// Rate is a metric math expression over declared metrics. Rates are never published: an average of published rates
// would give a minute with one retry the same weight as one with a thousand.
type Rate struct {
	Name, Description string
	Unit              Unit
	// Expression is CloudWatch metric math over the identifiers of Terms.
	Expression string
	Terms      []Term
}

// Term is one metric of a Rate under its identifier.
type Term struct {
	ID     string
	Metric *Metric
	Stat   Stat
}

// RetrySuccessRate returns the source design's rate: the share of completed retries that succeeded.
func RetrySuccessRate() Rate {
	return Rate{
		Name: "RetrySuccessRate", Unit: Percent,
		Description: "Share of completed retries that succeeded. No value while none completed.",
		Expression:  "100 * FILL(success, 0) / (FILL(success, 0) + FILL(failure, 0))",
		Terms:       []Term{{"success", RetrySuccess, Sum}, {"failure", RetryFailure, Sum}},
	}
}

// FailedBySystem returns the number of failed executions that did not fail because of their file. It subtracts two
// metrics that are counted from the same log record, so neither is ever visible without the other.
func FailedBySystem() Rate {
	return Rate{
		Name: "FailedBySystem", Unit: Count,
		Description: "Executions that failed for a reason other than their file.",
		Expression:  "failed - refused",
		Terms:       []Term{{"failed", ExecutionsFailed, Sum}, {"refused", ExecutionsRefused, Sum}},
	}
}

// MinimumRetries and MinimumDeadLetters are the smallest numbers of ended retries and of dead-lettered rows in a
// period for which a paging rate has a meaning; with fewer, the rate reports no problem.
const (
	MinimumRetries     = 20
	MinimumDeadLetters = 10
)

// SignificantRetrySuccessRate is RetrySuccessRate if enough retries ended in the period, and 100 otherwise.
func SignificantRetrySuccessRate() Rate {
	r := RetrySuccessRate()
	r.Name = "SignificantRetrySuccessRate"
	r.Description = fmt.Sprintf("RetrySuccessRate of a period in which %d or more retries completed, 100 otherwise.",
		MinimumRetries)
	r.Expression = fmt.Sprintf("IF(FILL(success, 0) + FILL(failure, 0) >= %d, %s, 100)", MinimumRetries, r.Expression)
	return r
}

// DeadLetterRate returns the share of rows that were dead-lettered in a period's imports, or 0 if fewer than
// MinimumDeadLetters were.
func DeadLetterRate() Rate {
	return Rate{
		Name: "DeadLetterRate", Unit: Percent,
		Description: fmt.Sprintf("Share of rows that were dead-lettered, in a period with %d or more of them; 0 otherwise.",
			MinimumDeadLetters),
		Expression: fmt.Sprintf("IF(dead >= %d, 100 * dead / (applied + already + rejected + dead), 0)",
			MinimumDeadLetters),
		Terms: []Term{{"dead", RowsDeadLettered, Sum}, {"applied", RowsApplied, Sum},
			{"already", RowsAlreadyApplied, Sum}, {"rejected", RowsRejected, Sum}},
	}
}

// MinimumExecutions is the smallest number of ended executions in a period for which the share of failed ones has a
// meaning.
const MinimumExecutions = 5

// ExecutionFailureRate returns the share of executions that failed, for any reason, or 0 if fewer than
// MinimumExecutions ended.
func ExecutionFailureRate() Rate {
	return Rate{
		Name: "ExecutionFailureRate", Unit: Percent,
		Description: fmt.Sprintf("Share of executions that failed, in a period in which %d or more ended; 0 otherwise.",
			MinimumExecutions),
		Expression: fmt.Sprintf("IF(FILL(succeeded, 0) + FILL(failed, 0) >= %d, 100 * FILL(failed, 0) / "+
			"(FILL(succeeded, 0) + FILL(failed, 0)), 0)", MinimumExecutions),
		Terms: []Term{{"succeeded", ExecutionsSucceeded, Sum}, {"failed", ExecutionsFailed, Sum}},
	}
}

// RowRecoveryRate is the share of retried rows that were applied in the end, at any log level.
func RowRecoveryRate() Rate {
	return Rate{
		Name: "RowRecoveryRate", Unit: Percent,
		Description: "Share of retried rows that were finally applied; published when a file ends, at any log level.",
		Expression:  "100 * recovered / retried",
		Terms:       []Term{{"recovered", RowsRecovered, Sum}, {"retried", RowsRetried, Sum}},
	}
}

// RetryRate is the share of attempts that are retries.
func RetryRate() Rate {
	return Rate{
		Name: "RetryRate", Unit: Percent, Description: "Share of attempts that are retries.",
		Expression: "100 * FILL(retries, 0) / attempts",
		Terms:      []Term{{"retries", RetryAttempts, Sum}, {"attempts", TaskAttempts, Sum}},
	}
}

// BreakerTransitions returns a rate that shows the periods in which executions observed the circuit breaker open or
// close.
func BreakerTransitions() Rate {
	return Rate{
		Name: "BreakerTransitions", Unit: None,
		Description: "1 for a period in which the circuit breaker opened or closed.",
		Expression:  "ABS(DIFF(FILL(breaker, 0)))",
		Terms:       []Term{{"breaker", CircuitBreakerState, Maximum}},
	}
}

// Rates returns every rate.
func Rates() []Rate {
	return []Rate{RetrySuccessRate(), SignificantRetrySuccessRate(), RetryRate(), FailedBySystem(), DeadLetterRate(),
		RowRecoveryRate(), BreakerTransitions(), LateShare(), ExecutionFailureRate()}
}

// At reports whether every term can be counted at a log level.
func (r Rate) At(level Level) bool {
	for _, t := range r.Terms {
		if !t.Metric.At(level) {
			return false
		}
	}
	return true
}
