package breaker

// Outcome classifies how an admitted call ended with regard to the callee's health.
type Outcome uint8

// The outcomes of a call.
const (
	// Success: the callee responded correctly.
	Success Outcome = iota
	// Failure: the callee is at fault: a timeout, a throttle, a server error, a lost connection.
	Failure
	// Ignored: the outcome says nothing about the callee: the request was invalid, the caller gave up, or the call
	// was never made. It frees the probe's slot and is not counted.
	Ignored
)

// String returns "success", "failure" or "ignored".
func (o Outcome) String() string {
	switch o {
	case Success:
		return "success"
	case Failure:
		return "failure"
	default:
		return "ignored"
	}
}
