package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"stepback/cmd/stepback/executions"
	"stepback/engine/history"
	"stepback/engine/journal"
)

// printTrace prints a history as text: one line per event, indented by nesting depth, with the time since the start
// and the event's data. If only is not nil, it prints just the events with these IDs.
func printTrace(w io.Writer, x *journal.Execution, events []history.Event, only map[int64]bool) {
	on := screenOf(w)
	until := "not ended"
	if x.Ended() {
		until = "to " + x.Stop.Format(time.RFC3339)
	}
	fmt.Fprintf(w, "%s\n%s, %s %s\n\n", x.ARN, on.status(string(x.Status)), x.Start.Format(time.RFC3339), until)
	if len(events) == 0 {
		return
	}
	lines := newEventLines(w)
	for i := range events {
		if only == nil || only[events[i].ID] {
			lines.print(&events[i])
		} else {
			lines.skip(&events[i])
		}
	}
}

// printHistory prints a history that the API returned.
func printHistory(w io.Writer, x *executions.Execution, events []history.Event) {
	printTrace(w, &journal.Execution{
		Info: history.Info{ARN: x.ARN}, Status: x.Status, Start: x.Start.Time, Stop: x.Stop.Time,
	}, events, nil)
}

// eventLines prints events as they arrive, one a line.
type eventLines struct {
	w      io.Writer
	on     screen
	places *traced
	began  int64
}

func newEventLines(w io.Writer) *eventLines {
	on := screenOf(w)
	return &eventLines{w: w, on: on, places: newTraced(on.data())}
}

func (l *eventLines) print(e *history.Event) {
	v := l.skip(e)
	fmt.Fprintln(l.w, l.on.fit(fmt.Sprintf("%6d %12s  %s%s%s%s", e.ID, "+"+offset(e.Time-l.began),
		strings.Repeat("  ", v.depth()), v.iteration(), e.Type, about(e, v, l.on.data()))))
}

// skip records an event without printing it, and returns the visit it belongs to.
func (l *eventLines) skip(e *history.Event) *visit {
	if l.began == 0 {
		l.began = e.Time
	}
	v, _ := l.places.event(e)
	return v
}

// offset formats a time since the start in seconds with milliseconds.
func offset(ns int64) string { return fmt.Sprintf("%.3fs", time.Duration(ns).Seconds()) }

// about returns what an event carries besides its type.
func about(e *history.Event, v *visit, data int) string {
	var b strings.Builder
	if e.Name != "" {
		b.WriteString(" " + e.Name)
	}
	if m := e.More; m != nil {
		switch e.Type {
		case history.MapIterationStarted, history.MapIterationSucceeded, history.MapIterationFailed,
			history.MapIterationAborted:
			b.WriteString(" " + v.iterated(m.Index))
		case history.MapStateStarted:
			b.WriteString(" " + counted(m.Length, "item"))
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
			b.WriteString(": " + shortenedTo(m.Failure.Cause, data))
		}
	}
	if e.Data != "" {
		b.WriteString("  " + shortenedTo(e.Data, data))
	}
	return b.String()
}
