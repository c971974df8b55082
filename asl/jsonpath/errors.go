package jsonpath

import (
	"errors"
	"fmt"
)

// SyntaxError says why a text is not a path: Jayway's InvalidPathException.
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

// NotFoundError says that a path leads nowhere in a value: Jayway's PathNotFoundException.
type NotFoundError struct {
	// Message is Jayway's text, such as "No results for path: $['a']".
	Message string
}

// Error implements error.
func (e *NotFoundError) Error() string { return e.Message }

// EvaluationError says that a path cannot be applied to a value: Jayway's JsonPathException.
type EvaluationError struct{ Message string }

// Error implements error.
func (e *EvaluationError) Error() string { return e.Message }

// errAbsent stands for a NotFoundError whose text is never shown, and errRejected for a comparison that is not
// applicable to its operands, which makes a filter refuse the item. Both stay inside filters.
var (
	errAbsent   = errors.New("absent")
	errRejected = errors.New("comparison not applicable")
)
