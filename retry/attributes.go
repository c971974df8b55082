package retry

// The attributes of attempts and retries in traces, proposed as semantic conventions; docs/retry-traces.md explains
// them. A span for each attempt carries the first group, the span of the operation that is attempted the second.
const (
	// AttributeAttempt is the attempt's number, counted from 1.
	AttributeAttempt = "retry.attempt"
	// AttributeReason is the error.type of the failed attempt that this attempt repeats. The first attempt has none.
	AttributeReason = "retry.reason"
	// AttributeDelay is the wait before this attempt, in seconds.
	AttributeDelay = "retry.delay"
	// AttributeBudget is the number of tokens left in the retry budget after it has paid for this attempt.
	AttributeBudget = "retry.budget.remaining"
	// AttributeLink is set, to [LinkPrevious], on the link from an attempt to the span of the one that it repeats.
	AttributeLink = "retry.link"

	// AttributeAttempts is the number of attempts that were made.
	AttributeAttempts = "retry.attempts"
	// AttributeEnd is the reason why no further attempt was made: one of the End constants.
	AttributeEnd = "retry.end"
)

// LinkPrevious is the value of [AttributeLink].
const LinkPrevious = "previous_attempt"

// The values of [AttributeEnd].
const (
	EndSucceeded     = "succeeded"      // the last attempt succeeded
	EndExhausted     = "exhausted"      // the policy's last retry failed
	EndPermanent     = "permanent"      // retries cannot fix the error
	EndUnclassified  = "unclassified"   // it is unknown whether a retry can fix the error
	EndNotIdempotent = "not_idempotent" // the attempt may have taken effect, and must not be repeated
	EndConflict      = "conflict"       // the caller has to start again from its read
	EndNoPolicy      = "no_policy"      // no policy covers the error
	EndDeadline      = "deadline"       // another attempt could not end before the deadline
	EndPushback      = "pushback"       // the callee asked not to repeat, or for a longer pause than is allowed
	EndBudget        = "budget"         // the retry budget is used up
	EndCircuitOpen   = "circuit_open"   // a circuit breaker admits no call
	EndLimited       = "limited"        // a limiter, bulkhead or queue admits no call
	EndCancelled     = "cancelled"      // the caller gave up
	EndGivenUp       = "given_up"       // no further attempt was made; the recorder does not know why
)
