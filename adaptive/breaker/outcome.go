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
)

// Failed reports whether the callee is at fault: Failure or Throttled.
func (o Outcome) Failed() bool { return o == Failure || o == Throttled }

// FailureAs returns the outcome of a failure with an error name: Throttled if the name stands for throttling, and
// Failure otherwise.
func FailureAs(name string) Outcome {
	if retry.IsThrottle(name) {
		return Throttled
	}
	return Failure
}

// String returns "success", "failure", "ignored" or "throttled".
func (o Outcome) String() string {
	switch o {
	case Success:
		return "success"
	case Failure:
		return "failure"
	case Throttled:
		return "throttled"
	default:
		return "ignored"
	}
}
