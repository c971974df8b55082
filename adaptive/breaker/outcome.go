package breaker

import "stepback/retry"

// Outcome classifies how an admitted call ended with regard to the callee's health.
type Outcome uint8

// The outcomes of a call.
const (
	// Success: the callee responded correctly.
	Success Outcome = iota
	// Failure: the callee is at fault: a timeout, a server error, a lost connection.
	Failure
	// Ignored: the outcome says nothing about the callee: the request was invalid, the caller gave up, or the call
	// was never made. It frees the probe's slot and is not counted.
	Ignored
	// Throttled: a failure with which the callee refuses the call because it gets too many. A limiter counts it with
	// the time of a success, because a refusal takes hardly any.
	Throttled
	// TimedOut: a failure of a call that did not end in time. An ordinary call may do so when the callee is slow, which
	// tells less about the record than an error with which the callee answers.
	TimedOut
)

// Failed reports whether the callee is at fault: Failure, Throttled or TimedOut.
func (o Outcome) Failed() bool { return o == Failure || o == Throttled || o == TimedOut }

// FailureAs returns the outcome of a failure with an error name: Throttled or TimedOut if the name stands for
// throttling or a timeout, and Failure otherwise.
func FailureAs(name string) Outcome {
	switch {
	case retry.IsThrottle(name):
		return Throttled
	case retry.IsTimeout(name):
		return TimedOut
	}
	return Failure
}

// String returns "success", "failure", "ignored", "throttled" or "timed out".
func (o Outcome) String() string {
	switch o {
	case Success:
		return "success"
	case Failure:
		return "failure"
	case Throttled:
		return "throttled"
	case TimedOut:
		return "timed out"
	default:
		return "ignored"
	}
}
