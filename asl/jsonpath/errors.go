package jsonpath

import (
	"errors"
	"fmt"
)

// SyntaxError reports why a text is not a path: Jayway's InvalidPathException.
type SyntaxError struct {
	Path string // the whole text
	// Column counts bytes of Path from 1.
	Column int
	// Message is Jayway's text; positions in it count UTF-16 units from 0 at the path's $.
	Message string
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid path '%s', column %d: %s", e.Path, e.Column, e.Message)
}

// NotFoundError reports that a path selects nothing in a value: Jayway's PathNotFoundException.
type NotFoundError struct {
	// Message is Jayway's text, such as "No results for path: $['a']".
	Message string
}

// Error implements error.
func (e *NotFoundError) Error() string { return e.Message }

// EvaluationError reports that a path cannot be applied to a value: Jayway's JsonPathException.
type EvaluationError struct{ Message string }

// Error implements error.
func (e *EvaluationError) Error() string { return e.Message }

// errAbsent replaces a NotFoundError whose text is never shown. errRejected means that a comparison does not apply to
// its operands, which makes a filter reject the item. Both stay inside filters.
var (
	errAbsent   = errors.New("absent")
	errRejected = errors.New("comparison not applicable")
)
