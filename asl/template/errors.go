package template

import (
	"fmt"

	"stepback/asl/intrinsic"
	"stepback/asl/jsonpath"
)

// FieldError says what is wrong with a key of a template.
type FieldError struct {
	// Field is the key as it is written, with .$.
	Field string
	// Err says what is wrong: an *intrinsic.SyntaxError for a call, the error of jsonpath.Compile for a path.
	Err error
}

// Error implements error.
func (e *FieldError) Error() string { return fmt.Sprintf("the field '%s': %v", e.Field, e.Err) }

// Unwrap returns what is wrong with the field.
func (e *FieldError) Unwrap() error { return e.Err }

// PathError says that a path of a template found nothing.
type PathError struct {
	// Field is the key as it is written, with .$.
	Field string
	// Path is the path's text; of a call, that of the argument without a value.
	Path string
	// Call is the whole intrinsic call as it is written, empty for a path that stands alone.
	Call string
	// Root is what the path was looked up in.
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

// CallError says that an intrinsic call of a template failed.
type CallError struct {
	// Field is the key as it is written, with .$.
	Field string
	// Call is the whole call as it is written.
	Call string
	// Err names the function that failed, this one or one nested in it.
	Err *intrinsic.Error
}

// Error implements error.
func (e *CallError) Error() string { return fmt.Sprintf("the field '%s': %v", e.Field, e.Err) }

// Unwrap returns the *intrinsic.Error.
func (e *CallError) Unwrap() error { return e.Err }
