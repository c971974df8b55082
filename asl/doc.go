// Package asl implements the Amazon States Language: the types of a state machine definition, a parser, validation
// with the diagnostics of AWS Step Functions, and printing. It describes definitions; it never runs one, never
// evaluates a path or an expression and does no I/O.
package asl
