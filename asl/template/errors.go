package template

import (
	"fmt"

	"stepback/asl/intrinsic"
	"stepback/asl/jsonpath"
)

// FieldError reports an invalid key or value in a template.
type FieldError struct {
	// Field is the key as written, including .$.
	Field string
	// Err is the problem. For a call it is an *intrinsic.SyntaxError, for a path the error of jsonpath.Compile.
	Err error
}

// Error implements error.
func (e *FieldError) Error() string { return fmt.Sprintf("the field '%s': %v", e.Field, e.Err) }

// Unwrap returns the field's error.
func (e *FieldError) Unwrap() error { return e.Err }

// PathError reports that a path in a template selects nothing.
type PathError struct {
	// Field is the key as written, including .$.
	Field string
	// Path is the path's text. In a call, it is the text of the argument that has no value.
	Path string
	// Call is the whole intrinsic call as written; empty if the path is not an argument of a call.
	Call string
	// Root is the root that the path starts from.
	Root jsonpath.Root
	// Err is the *jsonpath.NotFoundError.
	Err error
}

// Error implements error.
func (e *PathError) Error() string {
	return fmt.Sprintf("the field '%s': the path '%s' found nothing: %v", e.Field, e.Path, e.Err)
}

// Unwrap returns the *jsonpath.NotFoundError.
func (e *PathError) Unwrap() error { return e.Err }

// CallError reports that an intrinsic call in a template failed.
type CallError struct {
	// Field is the key as written, including .$.
	Field string
	// Call is the whole call as written.
	Call string
	// Err names the function that failed: the called function, or one nested in the call.
	Err *intrinsic.Error
}

// Error implements error.
func (e *CallError) Error() string { return fmt.Sprintf("the field '%s': %v", e.Field, e.Err) }

// Unwrap returns the *intrinsic.Error.
func (e *CallError) Unwrap() error { return e.Err }
