package itemreader

import (
	"context"
	"errors"
	"fmt"
)

// ErrorName is the Step Functions error name of a failed reader.
const ErrorName = "States.ItemReaderFailed"

// Causes recorded from the real service, verbatim.
const (
	causeNotIterable      = "Attempting to map over non-iterable node."
	causeDuplicateHeaders = "CSV headers cannot contain duplicates."
	causeNegativeMaxItems = "field MaxItems must be positive"
)

// Error is a failure to read items: invalid data, an unsupported configuration, or an error of the object store
// (Unwrap).
type Error struct {
	// Cause is the text for the history event. If the real service's wording is known, it is exactly that; otherwise
	// it names the object, the line and what to do.
	Cause string
	// Err is the underlying error; nil if the data themselves are invalid.
	Err error
}

// Error implements error.
func (e *Error) Error() string { return ErrorName + ": " + e.Cause }

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Err }

func failf(format string, args ...any) error {
	return &Error{Cause: fmt.Sprintf(format, args...)}
}

// storeError wraps an error of Objects in an Error. The error's text already names bucket and key.
func storeError(ctx context.Context, err error) error { return failure(ctx, "", err) }

// bodyError wraps an error in the middle of an object in an Error.
func bodyError(ctx context.Context, where string, err error) error {
	return failure(ctx, "reading "+where+": ", err)
}

// failure wraps an error in an Error unless it already is one. The error of a cancelled context is returned
// unchanged: the Map Run was stopped, the reader did not fail.
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
