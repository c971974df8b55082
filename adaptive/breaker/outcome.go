package breaker

// Outcome is how an admitted call ended, as far as the callee's health goes.
type Outcome uint8

// The outcomes of a call.
const (
	// Success: the callee answered as it should.
	Success Outcome = iota
	// Failure: the callee is to blame: a timeout, a throttle, a server error, a lost connection.
	Failure
	// Ignored says nothing about the callee: the request was invalid, the caller gave up, the call was never made.
	// It gives a probe's place back and counts nowhere.
	Ignored
)

// String is "success", "failure" or "ignored".
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
