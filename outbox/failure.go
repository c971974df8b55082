package outbox

import (
	"errors"
	"strings"
	"time"

	"stepback/retrypatterns"
)

// Failure is an error of a sink that specifies how it is to be handled. Any other error is classified by [Classify].
type Failure struct {
	// Name is the error's name, if possible one of package retrypatterns.
	Name string
	// Class is the effect that repeating can have. Since messages have IDs, an unknown outcome is repeated, and so is
	// a conflict.
	Class retrypatterns.Class
	// Reason is the reason recorded with the dead letter if Class is Permanent; empty means ReasonRefused.
	Reason string
	// RetryAfter is the delay that the receiver requests; 0 means none. The relay waits an hour at most.
	RetryAfter time.Duration
	// Err is the underlying error.
	Err error
}

func (f *Failure) Error() string { return f.Name + ": " + f.Err.Error() }

// Unwrap returns the underlying error.
func (f *Failure) Unwrap() error { return f.Err }

// Invalid returns the failure of a message with invalid content, which becomes a dead letter at once, for
// ReasonInvalidPayload.
func Invalid(err error) *Failure {
	return &Failure{
		Name:   retrypatterns.InvalidInput,
		Class:  retrypatterns.Permanent,
		Reason: ReasonInvalidPayload,
		Err:    err,
	}
}

// Permanent returns the failure of a message that the receiver refuses permanently. An empty reason means
// ReasonRefused.
func Permanent(reason string, err error) *Failure {
	return &Failure{Name: retrypatterns.InvalidInput, Class: retrypatterns.Permanent, Reason: reason, Err: err}
}

// Classify converts any error to a Failure: it returns the Failure in the error's chain, or classifies the error by
// [retrypatterns.Classify]. An error about which nothing is known is States.TaskFailed, which the table retries under
// the minimal pattern: receivers detect duplicates by ID, so retrying does no harm, while a dead letter costs a
// person's time.
func Classify(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		known := *f
		known.Err = err
		if known.Name == "" {
			known.Name = retrypatterns.StatesTaskFailed
		}
		return &known
	}
	if c, ok := retrypatterns.Classify(err); ok && c.Error != retrypatterns.OperationCancelled {
		return &Failure{Name: c.Error, Class: c.Class, Err: err}
	}
	return &Failure{Name: retrypatterns.StatesTaskFailed, Class: retrypatterns.UnknownOutcome, Err: err}
}

// Table is the default policy of a relay. It returns the pattern under which the table retries the error with that
// name; for a name not in the table, the pattern for States.TaskFailed.
func Table(name string) retrypatterns.Policy {
	p, ok := retrypatterns.PatternFor(name)
	if !ok {
		p, _ = retrypatterns.PatternFor(retrypatterns.StatesTaskFailed)
	}
	return p.Policy
}

// maxCause is the maximum length of a stored error text, in bytes.
const maxCause = 2000

// cause returns an error's text in the form stored in a table.
func (f *Failure) cause() string {
	text := strings.ReplaceAll(strings.ToValidUTF8(f.causeText(), "�"), "\x00", "�")
	if len(text) > maxCause {
		text = strings.ToValidUTF8(text[:maxCause], "") + "…"
	}
	return text
}

func (f *Failure) causeText() string {
	var inner *Failure
	if errors.As(f.Err, &inner) &&
		error(inner) == f.Err { //nolint:errorlint // the very failure, which would name itself twice
		return inner.Err.Error()
	}
	return f.Err.Error()
}
