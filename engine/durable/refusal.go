package durable

// Refusal is the error of a command that Lambda's API rejects. Nothing has changed.
type Refusal struct {
	// Code is the code of the API's error.
	Code    string
	Message string
}

// The codes of refusals.
const (
	InvalidParameterValue = "InvalidParameterValueException"
	// CallbackClosed is the code if a callback has ended, or its execution has.
	CallbackClosed = "CallbackTimeoutException"
)

// Error implements error.
func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

func invalid(message string) error { return &Refusal{InvalidParameterValue, message} }
