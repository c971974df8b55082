package outbox

import (
	"errors"
	"strings"
	"time"

	"stepback/retry"
)

// Failure is an error of a sink that specifies how the relay treats it. Any other error is classified by
// [retry.Classify].
type Failure struct {
	// Name is the error's name. Use one of package retry's names if one fits.
	Name string
	// Class says what repeating can do. An unknown outcome and a conflict are repeated too, because receivers
	// recognise repeats by the message's ID.
	Class retry.Class
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
		Name:   retry.InvalidInput,
		Class:  retry.Permanent,
		Reason: ReasonInvalidPayload,
		Err:    err,
	}
}

// Permanent returns the failure of a message that the receiver refuses permanently. An empty reason means
// ReasonRefused.
func Permanent(reason string, err error) *Failure {
	return &Failure{Name: retry.InvalidInput, Class: retry.Permanent, Reason: reason, Err: err}
}

// ClassifyRetry implements [retry.Classified]. ok is false for a Failure without a Class.
func (f *Failure) ClassifyRetry() (c retry.Classification, ok bool) {
	return retry.Classification{Error: f.Name, Class: f.Class, Identity: "its own word"}, f.Class != ""
}

// FailureOf returns the Failure in err's chain. Without one, it returns a Failure with the classification of
// [retry.Classify]. An unclassified error gets the name States.TaskFailed and is repeated: repeating does no harm,
// since receivers recognise the ID, while a dead letter costs a person's time.
func FailureOf(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		known := *f
		known.Err = err
		if known.Name == "" {
			known.Name = retry.StatesTaskFailed
		}
		return &known
	}
	if c, ok := retry.Classify(err); ok && c.Error != retry.OperationCancelled {
		return &Failure{Name: c.Error, Class: c.Class, Err: err}
	}
	return &Failure{Name: retry.StatesTaskFailed, Class: retry.UnknownOutcome, Err: err}
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
