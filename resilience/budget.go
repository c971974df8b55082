package resilience

import (
	"stepback/adaptive/breaker"
	"stepback/retry"
)

// Budget limits the retries of all calls to a service together, so that an outage does not multiply its load.
// [stepback/adaptive/budget] implements it, with the constants of Finagle, gRPC and the AWS SDKs as presets. A Budget
// must be safe for concurrent use.
type Budget interface {
	// Request counts a call. It is called for the first attempt of each.
	Request()
	// Retry requests permission for a retry or a hedge. It returns false if the budget is used up. after is the cause
	// for which the previous attempt failed; CauseOther for a hedge.
	Retry(after retry.Cause) bool
	// Success counts an attempt to which the callee responded, even with a permanent error. retried is true if
	// Retry was called for the attempt; after is the argument of that call.
	Success(retried bool, after retry.Cause)
	// Failure is called for an attempt that failed through the callee's fault.
	Failure()
}

// settle reports the outcome of an attempt to the budget.
func (s *session) settle() {
	switch {
	case s.budget == nil:
	case s.outcome == breaker.Success:
		s.budget.Success(s.attempts > 1, s.paid)
	case s.outcome.Failed():
		s.budget.Failure()
	}
}
