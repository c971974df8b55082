package main

import (
	"os"

	"golang.org/x/term"
)

// newStreams looks at the standard streams of the process.
func newStreams(in, out, err *os.File) streams {
	s := streams{in: in, out: out, err: err, width: 80}
	if os.Getenv("TERM") != "dumb" && os.Getenv("NO_COLOR") == "" {
		s.colour = term.IsTerminal(int(out.Fd()))
	}
	if fd := int(err.Fd()); term.IsTerminal(fd) && os.Getenv("TERM") != "dumb" {
		s.terminal = true
		if w, _, e := term.GetSize(fd); e == nil && w > 20 {
			s.width = w
		}
	}
	return s
}
