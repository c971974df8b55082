package itemreader

import (
	"context"
	"errors"
	"fmt"
)

// ErrorName is the Step Functions error that a failed reader raises.
const ErrorName = "States.ItemReaderFailed"

// Causes recorded from the real service, word for word.
const (
	causeNotIterable      = "Attempting to map over non-iterable node."
	causeDuplicateHeaders = "CSV headers cannot contain duplicates."
	causeNegativeMaxItems = "field MaxItems must be positive"
)

// Error is every failure to read items: bad data, an unsupported configuration, or an error of the object store
// (Unwrap).
type Error struct {
	// Cause is the text for the history event. Where the real service's wording is known it is exactly that; otherwise
	// it names the object, the line and what to do.
	Cause string
	// Err is the underlying error, nil when the data itself is at fault.
	Err error
}

// Error implements error.
func (e *Error) Error() string { return ErrorName + ": " + e.Cause }

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Err }

func failf(format string, args ...any) error {
	return &Error{Cause: fmt.Sprintf(format, args...)}
}

// storeError types an error of Objects, whose text names bucket and key already.
func storeError(ctx context.Context, err error) error { return failure(ctx, "", err) }

// bodyError types an error in the middle of an object.
func bodyError(ctx context.Context, where string, err error) error {
	return failure(ctx, "reading "+where+": ", err)
}

// failure types an error unless it is typed already. A cancelled context stays what it is: the Map run was stopped, the
// reader did not fail.
func failure(ctx context.Context, prefix string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var typed *Error
	if errors.As(err, &typed) {
		return err
	}
	return &Error{Cause: prefix + err.Error(), Err: err}
}
