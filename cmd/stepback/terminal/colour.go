package terminal

import (
	"strings"

	"stepback/internal/lazyregexp"
)

// Terminal colours.
const (
	bold    = "\x1b[1m"
	red     = "\x1b[31m"
	green   = "\x1b[32m"
	yellow  = "\x1b[33m"
	cyan    = "\x1b[36m"
	noColor = "\x1b[0m"
)

var (
	diagnosticHead = lazyregexp.New(`^(\S.*?:\d+:\d+: )(error|warning|advice)( .*)$`)
	caretLine      = lazyregexp.New(`^(  +\| \s*)(\^+)$`)
)

// Coloured colours rendered diagnostics for a terminal.
func Coloured(text string) string {
	colour := red
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		line, ended := strings.CutSuffix(line, "\n")
		if m := diagnosticHead.FindStringSubmatch(line); m != nil {
			colour = map[string]string{"error": red, "warning": yellow, "advice": cyan}[m[2]]
			line = bold + m[1] + colour + m[2] + noColor + m[3]
		} else if m := caretLine.FindStringSubmatch(line); m != nil {
			line = m[1] + colour + m[2] + noColor
		}
		if lines[i] = line; ended {
			lines[i] += "\n"
		}
	}
	return strings.Join(lines, "")
}
