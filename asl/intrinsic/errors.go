package intrinsic

import (
	"fmt"

	"stepback/asl/jsonpath"
)

// SyntaxError reports where and why a text is not a valid call.
type SyntaxError struct {
	// Column is the position of the error, in bytes of the text, counted from 1.
	Column int
	// Message states what was found and what would have been accepted.
	Message string
	// Err is the error in a path argument, nil otherwise.
	Err error
}

// Error implements error.
func (e *SyntaxError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s at column %d: %v", e.Message, e.Column, e.Err)
	}
	return fmt.Sprintf("%s at column %d", e.Message, e.Column)
}

// Unwrap returns the error in a path argument.
func (e *SyntaxError) Unwrap() error { return e.Err }

// Error reports why a function could not be evaluated. Amazon States Language calls it States.IntrinsicFailure.
type Error struct {
	// Function is the full name, such as States.ArrayGetItem.
	Function string
	// Reason names the argument and describes its problem.
	Reason string
}

// Error implements error.
func (e *Error) Error() string { return e.Function + ": " + e.Reason }

// ArgumentError reports that a path argument has no value. Err is the error of Env.Lookup.
type ArgumentError struct {
	// Function is the full name of the function that has the argument.
	Function string
	Path     *jsonpath.Path
	Err      error
}

// Error implements error.
func (e *ArgumentError) Error() string {
	return fmt.Sprintf("the argument %s of %s: %v", e.Path.Text(), e.Function, e.Err)
}

// Unwrap returns the error of Env.Lookup.
func (e *ArgumentError) Unwrap() error { return e.Err }
