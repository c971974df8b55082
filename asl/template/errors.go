package template

import (
	"fmt"

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
