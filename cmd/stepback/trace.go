package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"stepback/engine/history"
	"stepback/engine/journal"
)

// dataWidth is how much of an input, output or cause a line of the trace shows.
const dataWidth = 100

// printTrace prints a history for people: one line per event, indented by how deep the state is nested, with the time
// since the start and what the event carried.
func printTrace(w io.Writer, x *journal.Execution, events []history.Event) {
	until := "not ended"
	if x.Ended() {
		until = "to " + x.Stop.Format(time.RFC3339)
	}
	fmt.Fprintf(w, "%s\n%s, %s %s\n\n", x.ARN, x.Status, x.Start.Format(time.RFC3339), until)
	if len(events) == 0 {
		return
	}
	depth := nesting(events)
	began := events[0].Time
	for i := range events {
		e := &events[i]
		fmt.Fprintf(w, "%6d %12s  %s%s%s\n", e.ID, "+"+offset(e.Time-began), strings.Repeat("  ", depth[i]), e.Type,
			about(e))
	}
}

// offset writes a time since the start with milliseconds.
func offset(ns int64) string { return fmt.Sprintf("%.3fs", time.Duration(ns).Seconds()) }

// nesting is how many Parallel branches and Map iterations each event lies within.
func nesting(events []history.Event) []int {
	depth := make([]int, len(events))
	for i := range events {
		p := events[i].Previous
		if p < 1 || p > int64(len(events)) {
			continue
		}
		before := &events[p-1]
		depth[i] = depth[p-1]
		switch {
		case before.Type == history.MapIterationStarted, before.Type == history.ParallelStateStarted &&
			events[i].Type.Entered():
			depth[i]++
		case ends(events[i].Type):
			depth[i] = max(0, depth[i]-1)
		}
	}
	return depth
}

// ends reports whether an event closes a branch or iteration.
func ends(t history.Type) bool {
	switch t {
	case history.MapIterationSucceeded, history.MapIterationFailed, history.ParallelStateSucceeded,
		history.ParallelStateFailed,
		history.ParallelStateExited:
		return true
	default:
		return false
	}
}

// about is what an event carries beside its type.
func about(e *history.Event) string {
	var b strings.Builder
	if e.Name != "" {
		b.WriteString(" " + e.Name)
	}
	if m := e.More; m != nil {
		switch e.Type {
		case history.MapIterationStarted, history.MapIterationSucceeded, history.MapIterationFailed,
			history.MapIterationAborted:
			fmt.Fprintf(&b, " #%d", m.Index)
		case history.MapStateStarted:
			b.WriteString(" " + counted(m.Length, "item"))
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
			b.WriteString(": " + shortened(m.Failure.Cause))
		}
	}
	if e.Data != "" {
		b.WriteString("  " + shortened(e.Data))
	}
	return b.String()
}

// shortened cuts a text to one line of bounded width.
func shortened(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > dataWidth {
		return string(r[:dataWidth]) + "…"
	}
	return s
}
