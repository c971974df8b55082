package terminal

import (
	"io"
	"strings"
	"unicode"

	"stepback/asl/source"
)

// Screen describes where text is shown. The zero screen is a pipe or a file: lines of any length, no colours.
type Screen struct {
	width  int // cells of a line; 0 means any length
	colour bool
}

// shown is a writer that knows where its text is shown.
type shown interface{ screen() Screen }

// ScreenOf returns the screen on which a writer's text is shown.
func ScreenOf(w io.Writer) Screen {
	if s, ok := w.(shown); ok {
		return s.screen()
	}
	return Screen{}
}

// onScreen is a writer that writes to a screen.
type onScreen struct {
	io.Writer
	s Screen
}

func (o onScreen) screen() Screen { return o.s }

// ShownOn returns a writer that writes to w and reports s as the screen on which its text is shown.
func ShownOn(w io.Writer, s Screen) io.Writer { return onScreen{w, s} }

// statusColours maps statuses of executions, Map Runs, TestState and verdicts to colours.
var statusColours = map[string]string{
	"SUCCEEDED": green, "OK": green, "PASS": green,
	"FAILED": red, "TIMED_OUT": red, "FAIL": red,
	"ABORTED": yellow, "RETRIABLE": yellow, "CAUGHT_ERROR": yellow, "PENDING_REDRIVE": yellow, "RETRYING": yellow,
	"RUNNING": cyan, "PENDING": cyan,
	"failing": red, "retrying": yellow, "redriven": cyan, "started": cyan, // in serve's log lines
}

// Status returns a status in its colour.
func (s Screen) Status(name string) string {
	if colour := statusColours[name]; s.colour && colour != "" {
		return colour + name + noColor
	}
	return name
}

// Fit cuts a line to the width of the screen.
func (s Screen) Fit(line string) string {
	if s.width <= 0 || source.Cells(line) < s.width {
		return line
	}
	var b strings.Builder
	room := s.width - 2 // leaves out a cell for the ellipsis, and the last cell, at which some terminals break the line
	for _, r := range line {
		if room -= source.Cells(string(r)); room < 0 {
			break
		}
		b.WriteRune(r)
	}
	return b.String() + "…"
}

// Data returns how many characters of an input, output or cause a line shows: the width of the screen, or DataWidth
// in a pipe.
func (s Screen) Data() int { return max(DataWidth, s.width) }

// DataWidth is the number of characters of an input, output or cause that a line of the trace shows.
const DataWidth = 100

// Shortened cuts a text to one line of at most DataWidth characters.
func Shortened(s string) string { return ShortenedTo(s, DataWidth) }

// ShortenedTo cuts a text to one line of at most width characters.
func ShortenedTo(s string, width int) string {
	const most = 4 // the most bytes of a character
	if long := (width + 1) * most; len(s) > long && strings.IndexFunc(s[:long], unicode.IsSpace) < 0 {
		s = s[:long] // nothing after this is shown
	}
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > width {
		return string(r[:width]) + "…"
	}
	return s
}
