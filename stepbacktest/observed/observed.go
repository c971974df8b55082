// Package observed extracts from a history what tests check about an execution: the states it entered, how often each
// was tried, and how long it waited. stepbacktest and machinetest share it. It reports nothing and runs nothing.
package observed

import (
	"strings"
	"time"

	"stepback/engine/history"
)

// Entered returns the states that were entered, in order. States of branches and of inline Maps are included in the
// order in which they were entered; those of a distributed Map belong to separate executions.
func Entered(events []history.Event) []string {
	var names []string
	for i := range events {
		if events[i].Type.Entered() {
			names = append(names, events[i].Name)
		}
	}
	return names
}

// Attempts returns how often a Task state was tried, including retries, over all its visits.
func Attempts(events []history.Event, state string) int {
	n := 0
	for i := range events {
		if scheduled(events[i].Type) && StateOf(events, &events[i]) == state {
			n++
		}
	}
	return n
}

// Waits returns the waits of a state, in order: the waits of its retriers between two attempts, or the durations of a
// Wait state.
func Waits(events []history.Event, state string) []time.Duration {
	var waits []time.Duration
	began := map[int64]time.Time{} // when the wait began, by event ID
	for i := range events {
		e := &events[i]
		if StateOf(events, e) != state {
			continue
		}
		switch {
		case e.Type == history.WaitStateEntered || Failed(e.Type):
			began[e.ID] = e.At()
		case e.Type == history.WaitStateExited || scheduled(e.Type):
			if at, ok := began[e.Previous]; ok {
				waits = append(waits, e.At().Sub(at))
			}
		}
	}
	return waits
}

// StateOf returns the name of the state that an event belongs to, or "" for an event of the whole execution.
func StateOf(events []history.Event, e *history.Event) string {
	for !e.Type.Entered() && !e.Type.Exited() {
		if e.Previous <= 0 || e.Previous > int64(len(events)) {
			return ""
		}
		e = &events[e.Previous-1]
	}
	return e.Name
}

func scheduled(t history.Type) bool {
	return t == history.TaskScheduled || t == history.LambdaFunctionScheduled || t == history.ActivityScheduled
}

// Failed reports whether an event is the failure of a task's attempt.
func Failed(t history.Type) bool {
	name := t.String()
	if !strings.HasPrefix(name, "Task") && !strings.HasPrefix(name, "LambdaFunction") &&
		!strings.HasPrefix(name, "Activity") {
		return false
	}
	return strings.HasSuffix(name, "Failed") || strings.HasSuffix(name, "TimedOut")
}
