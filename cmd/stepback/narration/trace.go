package narration

import (
	"fmt"
	"io"
	"strings"
	"time"

	"stepback/cmd/stepback/executions"
	"stepback/cmd/stepback/terminal"
	"stepback/engine/history"
	"stepback/engine/journal"
)

// PrintTrace prints a history as text: one line per event, indented by nesting depth, with the time since the start
// and the event's data. If only is not nil, it prints just the events with these IDs.
func PrintTrace(w io.Writer, x *journal.Execution, events []history.Event, only map[int64]bool) {
	on := terminal.ScreenOf(w)
	until := "not ended"
	if x.Ended() {
		until = "to " + x.Stop.Format(time.RFC3339)
	}
	fmt.Fprintf(w, "%s\n%s, %s %s\n\n", x.ARN, on.Status(string(x.Status)), x.Start.Format(time.RFC3339), until)
	if len(events) == 0 {
		return
	}
	lines := NewEventLines(w)
	for i := range events {
		if only == nil || only[events[i].ID] {
			lines.Print(&events[i])
		} else {
			lines.skip(&events[i])
		}
	}
}

// PrintHistory prints a history that the API returned.
func PrintHistory(w io.Writer, x *executions.Execution, events []history.Event) {
	PrintTrace(w, &journal.Execution{
		Info: history.Info{ARN: x.ARN}, Status: x.Status, Start: x.Start.Time, Stop: x.Stop.Time,
	}, events, nil)
}

// EventLines prints events as they arrive, one a line.
type EventLines struct {
	w      io.Writer
	on     terminal.Screen
	places *Traced
	began  int64
}

// NewEventLines returns a printer of events that writes to w.
func NewEventLines(w io.Writer) *EventLines {
	on := terminal.ScreenOf(w)
	return &EventLines{w: w, on: on, places: NewTraced(on.Data())}
}

// Print prints an event.
func (l *EventLines) Print(e *history.Event) {
	v := l.skip(e)
	fmt.Fprintln(l.w, l.on.Fit(fmt.Sprintf("%6d %12s  %s%s%s%s", e.ID, "+"+offset(e.Time-l.began),
		strings.Repeat("  ", v.depth()), v.iteration(), e.Type, about(e, v, l.on.Data()))))
}

// skip records an event without printing it, and returns the visit it belongs to.
func (l *EventLines) skip(e *history.Event) *Visit {
	if l.began == 0 {
		l.began = e.Time
	}
	v, _ := l.places.Event(e)
	return v
}

// offset formats a time since the start in seconds with milliseconds.
func offset(ns int64) string { return fmt.Sprintf("%.3fs", time.Duration(ns).Seconds()) }

// about returns what an event carries besides its type.
func about(e *history.Event, v *Visit, data int) string {
	var b strings.Builder
	if e.Name != "" {
		b.WriteString(" " + e.Name)
	}
	if m := e.More; m != nil {
		switch e.Type {
		case history.MapIterationStarted, history.MapIterationSucceeded, history.MapIterationFailed,
			history.MapIterationAborted:
			b.WriteString(" " + v.Iterated(m.Index))
		case history.MapStateStarted:
			b.WriteString(" " + terminal.Counted(m.Length, "item"))
			if m.Length == 0 { // AWS also has 0 in the event of a distributed Map
				b.WriteString(" (a Map Run counts its own)")
			}
		case history.MapRunStarted:
			b.WriteString(" " + m.MapRunARN)
		default:
			if m.ResourceType != "" {
				b.WriteString(" " + m.ResourceType + ":" + m.Resource)
			}
		}
		if m.Failure.HasName() {
			b.WriteString(" " + m.Failure.Name)
		}
		if m.Failure.HasCause() {
			b.WriteString(": " + terminal.ShortenedTo(m.Failure.Cause, data))
		}
	}
	if e.Data != "" {
		b.WriteString("  " + terminal.ShortenedTo(e.Data, data))
	}
	return b.String()
}
