package intrinsic

import (
	"errors"
	"fmt"
	"strings"

	"stepback/asl/jsonpath"
	"stepback/asl/jsonvalue"
)

// SyntaxError says why a text is not a call of an intrinsic function.
type SyntaxError struct {
	Text string // the whole text
	// Column counts bytes of Text from 1.
	Column int
	// Message says what was found and what would be accepted.
	Message string
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid intrinsic function call '%s', column %d: %s", e.Text, e.Column, e.Message)
}

// Error says why the evaluation of a call failed. AWS documents these failures as States.IntrinsicFailure and has been seen
// reporting them as States.Runtime.
type Error struct {
	Call     string // the text of the whole call
	Function string // the function that failed, such as "States.MathAdd"
	Reason   string // why, for a person
	// Path is the argument that could not be read; nil when the function itself failed.
	Path *jsonpath.Path
	Err  error // the failure to read Path
}

// Error implements error.
func (e *Error) Error() string {
	if e.Path != nil {
		return fmt.Sprintf("the argument '%s' of %s: %v", e.Path.Text(), e.Function, e.Err)
	}
	return "Invalid arguments in " + e.Function + ": " + e.Reason
}

// Unwrap returns the failure to read a path, if that was the reason.
func (e *Error) Unwrap() error { return e.Err }

// Cause returns the text that the real service gives as the cause; input is the effective input of the state, which it
// names whatever root the path has.
func (e *Error) Cause(input jsonvalue.Value) string {
	if e.Path == nil {
		return "Invalid arguments in " + e.Function
	}
	detail := e.Err.Error()
	if _, ok := errors.AsType[*jsonpath.NotFoundError](e.Err); ok && !strings.HasPrefix(detail, "Filter: ") {
		detail = fmt.Sprintf("The JsonPath argument for the field '%s' could not be found in the input '%s'", e.Path.Local(), input.JSON())
	}
	return fmt.Sprintf("The function '%s' had the following error: %s", e.Call, detail)
}
