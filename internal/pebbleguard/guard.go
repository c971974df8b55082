// Package pebbleguard opens Pebble's stores, and turns Pebble's fatal errors, which would end the program, into
// returned errors.
package pebbleguard

import (
	"fmt"
	"runtime"
	"strings"
)

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
type Log struct {
	// Fatal, if not nil, is called with a fatal error in one of Pebble's own goroutines, which then ends without
	// finishing its work. The store must not be used any more, and closing it may wait for ever. Fatal must be quick
	// and must not use the store. If it is nil, the process ends with the error.
	Fatal func(error)
}

// Infof drops a message.
func (Log) Infof(string, ...any) {}

// Errorf drops a message.
func (Log) Errorf(string, ...any) {}

// Fatalf ends the current Call with the error among args, or with the message as an error. Outside a Call, it reports
// the error to Fatal and ends the goroutine.
func (l Log) Fatalf(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	for _, a := range args {
		if e, ok := a.(error); ok {
			err = e
		}
	}
	if l.Fatal == nil || called() {
		panic(refusal{err})
	}
	l.Fatal(err)
	runtime.Goexit() // Pebble relies on Fatalf not returning
}

// called reports whether a Call is on the stack of this goroutine, so that a panic would end that Call.
func called() bool {
	const deep = 256
	var callers [deep]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers[:])])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.Function, "internal/pebbleguard.Call") {
			return true
		}
		if !more {
			return false
		}
	}
}

// refusal is the value that Log panics with.
type refusal struct{ err error }
