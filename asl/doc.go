// Package asl is the Amazon States Language: the types of a state machine definition, a parser, validation with the
// diagnostics that AWS Step Functions gives, and printing. It says what a definition means on paper; it never runs one,
// never evaluates a path or an expression and does no I/O.
package asl
