package main

import (
	"os"

	"golang.org/x/term"
)

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
