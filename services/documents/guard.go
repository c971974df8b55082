package documents

import "fmt"

// guarded calls something that writes and turns Pebble's way of giving up into an error.
func guarded(write func() error) (err error) {
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

// refusing is Pebble's log. It drops its messages, since its errors reach the caller as errors, but for the one after
// which Pebble cannot go on: that ends the writer with a refusal.
type refusing struct{}

func (refusing) Infof(string, ...any)  {}
func (refusing) Errorf(string, ...any) {}
func (refusing) Fatalf(format string, args ...any) {
	for _, a := range args {
		if err, ok := a.(error); ok {
			panic(refusal{err})
		}
	}
	panic(refusal{fmt.Errorf(format, args...)})
}

// refusal is what refusing panics with.
type refusal struct{ err error }
