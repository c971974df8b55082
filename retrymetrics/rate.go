package retrymetrics

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
	return []Rate{RetrySuccessRate(), RetryRate(), BreakerTransitions()}
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
