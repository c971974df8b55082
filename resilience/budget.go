package resilience

// Budget bounds the retries of all calls to a service together, so that an outage does not multiply its load. Many
// goroutines use it at once.
type Budget interface {
	// Request is told of each call's first attempt.
	Request()
	// Retry asks to repeat; false means that the budget is used up. A hedge asks, too.
	Retry() bool
	// Result is told how each attempt ended, as far as the callee's health goes.
	Result(success bool)
}
