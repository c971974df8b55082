package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// streams are the command's input and outputs.
type streams struct {
	in io.Reader // nil if there is no input
	// interrupted is closed when the command is interrupted; nil if it cannot be.
	interrupted <-chan struct{}
	out, err    io.Writer
	terminal    bool // err is a terminal: progress may be redrawn
	width       int  // cells of a line on err
	colour      bool // out is a terminal that shows colours
	outWidth    int  // cells of a line on out; 0 if it is not a terminal

	errColour bool // err is a terminal that shows colours
}

// outScreen and errScreen return the screens of the two streams.
func (s streams) outScreen() screen { return screen{s.outWidth, s.colour} }

func (s streams) errScreen() screen {
	if !s.terminal {
		return screen{}
	}
	return screen{s.width, s.errColour}
}

// newStreams returns the process's standard streams, with what is known of their terminals.
func newStreams(in, out, err *os.File) streams {
	s := streams{in: in, out: out, err: err, width: 80}
	if os.Getenv("TERM") != "dumb" && os.Getenv("NO_COLOR") == "" {
		s.colour, s.errColour = term.IsTerminal(int(out.Fd())), term.IsTerminal(int(err.Fd()))
	}
	if w, _, e := term.GetSize(int(out.Fd())); e == nil && w > 20 {
		s.outWidth = w
	}
	if fd := int(err.Fd()); term.IsTerminal(fd) && os.Getenv("TERM") != "dumb" {
		s.terminal = true
		if w, _, e := term.GetSize(fd); e == nil && w > 20 {
			s.width = w
		}
	}
	return s
}

// checked remembers the first error of writing through it, so that a report that could not be written does not count
// as success.
type checked struct {
	io.Writer
	shownOn screen
	err     error
}

func (c *checked) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	if c.err == nil {
		c.err = err
	}
	return n, err
}

func (c *checked) screen() screen { return c.shownOn }

// report prints err once and returns the exit code for it.
func report(io streams, err error) int {
	if err == nil {
		return exitOK
	}
	code := exitFailure
	var e *exitError
	if errors.As(err, &e) {
		code = e.code
		if e.err == nil {
			return code
		}
	}
	if errors.Is(err, context.Canceled) {
		code = exitStopped
	}
	fmt.Fprintf(io.err, "stepback: %s\n", words(err))
	return code
}
