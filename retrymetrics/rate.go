package retrymetrics

import "fmt"

// Rate is metric math over declared metrics. Rates are never published: an average of published rates would weigh a
// minute with one retry like one with a thousand.
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

// RetrySuccessRate is the source design's: of the retries that came to an end, the share that succeeded.
func RetrySuccessRate() Rate {
	return Rate{
		Name: "RetrySuccessRate", Unit: Percent,
		Description: "Share of ended retries that succeeded. No value while none ended.",
		Expression:  "100 * FILL(success, 0) / (FILL(success, 0) + FILL(failure, 0))",
		Terms:       []Term{{"success", RetrySuccess, Sum}, {"failure", RetryFailure, Sum}},
	}
}

// FailedBySystem are the failed executions less those that failed for what is in their file. Both are counted from the
// same record of the log, so that neither is ever seen without the other.
func FailedBySystem() Rate {
	return Rate{
		Name: "FailedBySystem", Unit: Count,
		Description: "Executions that failed for another reason than what is in their file.",
		Expression:  "failed - refused",
		Terms:       []Term{{"failed", ExecutionsFailed, Sum}, {"refused", ExecutionsRefused, Sum}},
	}
}

// MinimumRetries and MinimumDeadLetters are how many ended retries, and dead-lettered rows, of a period a rate is made
// of that may wake somebody: below, it says nothing.
const (
	MinimumRetries     = 20
	MinimumDeadLetters = 10
)

// SignificantRetrySuccessRate is RetrySuccessRate where enough retries ended, and 100 where fewer did.
func SignificantRetrySuccessRate() Rate {
	r := RetrySuccessRate()
	r.Name = "SignificantRetrySuccessRate"
	r.Description = fmt.Sprintf("RetrySuccessRate of a period in which %d retries and more ended, 100 otherwise.",
		MinimumRetries)
	r.Expression = fmt.Sprintf("IF(FILL(success, 0) + FILL(failure, 0) >= %d, %s, 100)", MinimumRetries, r.Expression)
	return r
}

// DeadLetterRate is the share of the rows of a period's imports that were dead-lettered, and 0 where they were few.
func DeadLetterRate() Rate {
	return Rate{
		Name: "DeadLetterRate", Unit: Percent,
		Description: fmt.Sprintf("Share of rows that were dead-lettered, of a period with %d and more of them; 0 otherwise.",
			MinimumDeadLetters),
		Expression: fmt.Sprintf("IF(dead >= %d, 100 * dead / (applied + already + rejected + dead), 0)",
			MinimumDeadLetters),
		Terms: []Term{{"dead", RowsDeadLettered, Sum}, {"applied", RowsApplied, Sum},
			{"already", RowsAlreadyApplied, Sum}, {"rejected", RowsRejected, Sum}},
	}
}

// RowRecoveryRate is the share of the rows that were tried again which were applied in the end, at any log level.
func RowRecoveryRate() Rate {
	return Rate{
		Name: "RowRecoveryRate", Unit: Percent,
		Description: "Share of rows tried again that were applied in the end; told when a file ends, at any log level.",
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

// BreakerTransitions counts how often the circuit breaker opened or closed, as the executions saw it.
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
		RowRecoveryRate(), BreakerTransitions()}
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
