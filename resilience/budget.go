package resilience

import "stepback/adaptive/breaker"

// Budget bounds the retries of all calls to a service together, so that an outage does not multiply its load. The
// budgets of [stepback/adaptive/budget] are such, with the constants of Finagle, gRPC and the AWS SDKs as presets. Many
// goroutines use one at once.
type Budget interface {
	// Request is told of each call's first attempt.
	Request()
	// Retry asks to repeat; false means that the budget is used up. afterTimeout says how the attempt before failed. A
	// hedge asks, too.
	Retry(afterTimeout bool) bool
	// Success is told of an attempt that the callee answered, also with a permanent error. retried says that Retry was
	// asked for it, with that afterTimeout.
	Success(retried, afterTimeout bool)
	// Failure is told of an attempt that failed by the callee's fault.
	Failure()
}

// settle tells the budget how an attempt ended.
func (s *session) settle() {
	switch {
	case s.budget == nil:
	case s.outcome == breaker.Success:
		s.budget.Success(s.attempts > 1, s.paidTimeout)
	case s.outcome == breaker.Failure:
		s.budget.Failure()
	}
}
