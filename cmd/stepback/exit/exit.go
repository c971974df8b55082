// Package exit defines the exit codes of the command, and the errors that carry them.
package exit

import "fmt"

// The exit codes, documented in --help and docs/command-line.md.
const (
	OK      = 0
	Failure = 1 // the requested work failed, or could not be done
	Usage   = 2 // the command line is wrong
	Data    = 3 // the work was done, but its input needs attention: a definition, a file, some of its rows

	TimedOut = 4 // an execution ended TIMED_OUT, or exceeded --timeout
	Aborted  = 5 // an execution was aborted

	NoTest = 6 // no test matches the filter

	Stopped = 130 // Ctrl-C
)

// Error carries the exit code of a failure, and its error unless that has been reported already.
type Error struct {
	Code int
	Err  error // nil if everything has been reported
}

// Error returns the error's message, or the exit code if everything has been reported.
func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns the error that the exit code is for.
func (e *Error) Unwrap() error { return e.Err }

// With returns an error with an exit code. err is nil if everything has been reported.
func With(code int, err error) error { return &Error{code, err} }
