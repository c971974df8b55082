package csvimport

import (
	"context"
	"errors"
	"fmt"

	"stepback/retry"
)

// Failure is an error with a name, by which Step Functions decides whether to retry, catch or give up. Its message
// says what was wrong, where, and what to do.
type Failure struct {
	Name    string // one of package retry's or statemachine's constants, or UnexpectedError
	Message string // without the name
	Err     error  // the cause; may be nil
}

// Fail returns a Failure with a formatted message. A %w argument becomes Err.
func Fail(name, format string, args ...any) *Failure {
	err := fmt.Errorf(format, args...)
	return &Failure{Name: name, Message: err.Error(), Err: errors.Unwrap(err)}
}

// Error returns the name and the message.
func (f *Failure) Error() string { return f.Name + ": " + f.Message }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// AsFailure returns the Failure in err's chain. If there is none, it creates one with a name. A deadline or
// cancellation is a TimeoutError, because only the invocation ends, and every step can be repeated safely. An error
// known to [retry.Classify] has the name returned there. Any other is an UnexpectedError.
func AsFailure(err error) *Failure {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return &Failure{Name: retry.TimeoutError,
			Message: "the invocation was cut off before it finished; repeating it is safe: " + err.Error(), Err: err}
	}
	if c, ok := retry.Classify(err); ok {
		return &Failure{Name: c.Error, Message: err.Error(), Err: err}
	}
	return &Failure{Name: UnexpectedError, Message: err.Error(), Err: err}
}

// UnexpectedError is the name of an error that no rule of this project covers.
const UnexpectedError = "UnexpectedError"
