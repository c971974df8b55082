package template

import (
	"errors"
	"fmt"

	"stepback/asl/intrinsic"
	"stepback/asl/jsonpath"
	"stepback/asl/jsonvalue"
)

// CompileError says which member of a template is wrong.
type CompileError struct {
	Field    string // the member's name, with its ".$"
	Location string // where it stands in the template, as a JSON pointer; empty for an expression outside a template
	Message  string
	Err      error // the *jsonpath.SyntaxError or *intrinsic.SyntaxError, if that is the reason
}

// Error implements error.
func (e *CompileError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %v", e.Message, e.Err)
	}
	return e.Message
}

// Unwrap returns the syntax error, if there is one.
func (e *CompileError) Unwrap() error { return e.Err }

// Error says which expression could not be evaluated.
type Error struct {
	Field string // the member's name, with its ".$"
	// Path is the path that failed; nil when it was a call.
	Path *jsonpath.Path
	Err  error // what Env.Lookup said of the path, or the *intrinsic.Error
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("the field '%s': %v", e.Field, e.Err) }

// Unwrap returns the failure itself.
func (e *Error) Unwrap() error { return e.Err }

// Cause returns the text that the real service gives as the cause. root is the value that Path starts from, and the input of
// the state when the expression is a call.
func (e *Error) Cause(root jsonvalue.Value) string {
	if call, ok := errors.AsType[*intrinsic.Error](e.Err); ok {
		return call.Cause(root)
	}
	if _, ok := errors.AsType[*jsonpath.NotFoundError](e.Err); ok {
		return fmt.Sprintf("The JSONPath '%s' specified for the field '%s' could not be found in the input '%s'",
			e.Path.Text(), e.Field, root.JSON())
	}
	return fmt.Sprintf("Invalid path '%s' : %v", e.Path.Text(), e.Err)
}
