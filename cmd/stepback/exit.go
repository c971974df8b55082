package main

import "fmt"

// The exit codes, documented in --help and docs/command-line.md.
const (
	exitOK      = 0
	exitFailure = 1 // the requested work failed, or could not be done
	exitUsage   = 2 // the command line is wrong
	exitData    = 3 // the work was done, but its input needs attention: a definition, a file, some of its rows
	exitStopped = 130
)

// The exit codes of executions; FAILED is exitFailure, an invalid definition exitData.
const (
	exitTimedOut = 4
	exitAborted  = 5
)

// exitError carries the exit code of a failure, and its error unless that has been reported already.
type exitError struct {
	code int
	err  error // nil if everything has been reported
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exitWith returns an error with an exit code. err is nil if everything has been reported.
func exitWith(code int, err error) error { return &exitError{code, err} }
