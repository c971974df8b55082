// Package pebbleguard turns Pebble's way of giving up, which is to end the program, into an error. It opens no store.
package pebbleguard

import "fmt"

// Call calls something that writes to a store whose log is Log, and returns the error after which Pebble cannot go on.
// Other panics pass.
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

// Log is the log of a store. It drops messages, since Pebble's errors reach the caller as errors, but for the one after
// which Pebble cannot go on: that ends Call.
type Log struct{}

// Infof drops a message.
func (Log) Infof(string, ...any) {}

// Errorf drops a message.
func (Log) Errorf(string, ...any) {}

// Fatalf ends the Call under way with the error among args, or with one of the message.
func (Log) Fatalf(format string, args ...any) {
	for _, a := range args {
		if err, ok := a.(error); ok {
			panic(refusal{err})
		}
	}
	panic(refusal{fmt.Errorf(format, args...)})
}

// refusal is what Log panics with.
type refusal struct{ err error }
