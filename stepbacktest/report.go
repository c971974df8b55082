package stepbacktest

import (
	"fmt"
	"strings"

	"stepback/engine/history"
)

// fail reports an expectation that is not met, together with the history if this is the first one.
func (x *Execution) fail(format string, args ...any) {
	x.t.Helper()
	story := ""
	x.report.Do(func() { story = "\nthe history:\n" + x.story() })
	x.t.Errorf("%s%s", fmt.Sprintf(format, args...), story)
}

// story returns the history as text: one event per line, with the time since the start.
func (x *Execution) story() string {
	var b strings.Builder
	for i := range x.Events {
		e := &x.Events[i]
		fmt.Fprintf(&b, "  %4d %10s  %s", e.ID, "+"+e.At().Sub(x.Start).String(), e.Type)
		if state := history.StateOf(x.Events, e); state != "" {
			b.WriteString(" " + state)
		}
		if e.More != nil && e.More.Failure.HasName() {
			b.WriteString(" " + e.More.Failure.Name)
		}
		if e.More != nil && e.More.Failure.HasCause() {
			b.WriteString(": " + shortened(e.More.Failure.Cause))
		}
		if e.Data != "" {
			b.WriteString(" " + shortened(e.Data))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// shortened returns a text on one line, cut to 120 characters.
func shortened(s string) string {
	const most = 120
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) <= most {
		return string(r)
	}
	return string(r[:most]) + "…"
}
