package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"

	"stepback/cmd/stepback/exit"
)

// Streams are the command's input and outputs.
type Streams struct {
	In io.Reader // nil if there is no input
	// Interrupted is closed when the command is interrupted; nil if it cannot be.
	Interrupted <-chan struct{}
	Out, Err    io.Writer
	Terminal    bool // err is a terminal: progress may be redrawn
	Width       int  // cells of a line on err
	Colour      bool // out is a terminal that shows colours
	OutWidth    int  // cells of a line on out; 0 if it is not a terminal

	ErrColour bool // err is a terminal that shows colours
}

// OutScreen returns the screen of the standard output.
func (s Streams) OutScreen() Screen { return Screen{s.OutWidth, s.Colour} }

// ErrScreen returns the screen of the standard error.
func (s Streams) ErrScreen() Screen {
	if !s.Terminal {
		return Screen{}
	}
	return Screen{s.Width, s.ErrColour}
}

// NewStreams returns the process's standard streams, with what is known of their terminals.
func NewStreams(in, out, err *os.File) Streams {
	s := Streams{In: in, Out: out, Err: err, Width: 80}
	if os.Getenv("TERM") != "dumb" && os.Getenv("NO_COLOR") == "" {
		s.Colour, s.ErrColour = term.IsTerminal(int(out.Fd())), term.IsTerminal(int(err.Fd()))
	}
	if w, _, e := term.GetSize(int(out.Fd())); e == nil && w > 20 {
		s.OutWidth = w
	}
	if fd := int(err.Fd()); term.IsTerminal(fd) && os.Getenv("TERM") != "dumb" {
		s.Terminal = true
		if w, _, e := term.GetSize(fd); e == nil && w > 20 {
			s.Width = w
		}
	}
	return s
}

// Checked is a writer that records the first error of its writes, so that a report that could not be written does
// not count as success.
type Checked struct {
	io.Writer
	ShownOn Screen
	Err     error
}

func (c *Checked) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	if c.Err == nil {
		c.Err = err
	}
	return n, err
}

func (c *Checked) screen() Screen { return c.ShownOn }

// Report prints err once and returns the exit code for it.
func Report(io Streams, err error) int {
	if err == nil {
		return exit.OK
	}
	code := exit.Failure
	var e *exit.Error
	if errors.As(err, &e) {
		code = e.Code
		if e.Err == nil {
			return code
		}
	}
	if errors.Is(err, context.Canceled) {
		code = exit.Stopped
	}
	fmt.Fprintf(io.Err, "stepback: %s\n", Words(err))
	return code
}

// OneAtATime serializes writes, so that the trace and several functions can share a writer.
type OneAtATime struct {
	mu sync.Mutex
	W  io.Writer
}

// Write implements io.Writer.
func (o *OneAtATime) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.W.Write(b)
}
