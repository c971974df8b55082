// Package pebbleguard opens Pebble's stores, and turns Pebble's fatal errors, which would end the program, into
// returned errors.
package pebbleguard

import "fmt"

// Call calls a function that writes to a store with Log as its logger. If Pebble hits a fatal error, Call returns
// that error. Other panics pass through.
func Call(write func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case refusal:
			err = p.err
		case error:
			err = p
		default:
			panic(p)
		}
	}()
	return write()
}

// Log is the logger of a store. It drops messages, because Pebble's errors reach the caller as errors. The
// exception is a fatal error, after which Pebble cannot continue: it ends Call.
type Log struct{}

// Infof drops a message.
func (Log) Infof(string, ...any) {}

// Errorf drops a message.
func (Log) Errorf(string, ...any) {}

// Fatalf ends the current Call with the error among args, or with the message as an error.
func (Log) Fatalf(format string, args ...any) {
	for _, a := range args {
		if err, ok := a.(error); ok {
			panic(refusal{err})
		}
	}
	panic(refusal{fmt.Errorf(format, args...)})
}

// refusal is the value that Log panics with.
type refusal struct{ err error }
