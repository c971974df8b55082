package jsonpath

import (
	"errors"
	"fmt"
)

// SyntaxError reports why a text is not a path. It corresponds to Jayway's InvalidPathException.
type SyntaxError struct {
	Path string // the whole text
	// Column is the position of the error in bytes of Path, from 1.
	Column int
	// Message is Jayway's text. Positions in it count UTF-16 units from 0 at the path's $.
	Message string
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid path '%s', column %d: %s", e.Path, e.Column, e.Message)
}

// NotFoundError reports that a path selects nothing in a value. It corresponds to Jayway's PathNotFoundException.
type NotFoundError struct {
	// Message is Jayway's text, such as "No results for path: $['a']".
	Message string
}

// Error implements error.
func (e *NotFoundError) Error() string { return e.Message }

// EvaluationError reports that a path cannot be applied to a value. It corresponds to Jayway's JsonPathException.
type EvaluationError struct{ Message string }

// Error implements error.
func (e *EvaluationError) Error() string { return e.Message }

// errAbsent replaces a NotFoundError whose text is never shown. errRejected means that a comparison does not apply
// to its operands, so the filter rejects the item. Neither leaves a filter.
var (
	errAbsent   = errors.New("absent")
	errRejected = errors.New("comparison not applicable")
)
