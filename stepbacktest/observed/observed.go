// Package observed extracts, from a history, the data that tests check: the states that were entered, how often
// each was tried, and how long each waited. stepbacktest and machinetest share it. It reports nothing and runs
// nothing.
package observed

import (
	"time"

	"stepback/engine/history"
)

// Entered returns the states that were entered, in order. The states of branches and of inline Maps are included.
// The states of a distributed Map are not, because they belong to separate executions.
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
	var r history.AttemptReader
	for i := range events {
		if c := r.Read(&events[i]); c.Begins && c.Attempt.State == state {
			n++
		}
	}
	return n
}

// Waits returns the waits of a state, in order. For a Wait state, they are its durations. For any other state, they
// are the waits of its retriers between two attempts.
func Waits(events []history.Event, state string) []time.Duration {
	var waits []time.Duration
	began := map[int64]time.Time{} // when a Wait state was entered, by the event
	var r history.AttemptReader
	for i := range events {
		e := &events[i]
		c := r.Read(e)
		switch {
		case c.Begins && c.Attempt.Retry() && c.Attempt.State == state:
			waits = append(waits, c.Attempt.Wait())
		case e.Name != state:
		case e.Type == history.WaitStateEntered:
			began[e.ID] = e.At()
		case e.Type == history.WaitStateExited:
			if at, ok := began[e.Previous]; ok {
				waits = append(waits, e.At().Sub(at))
			}
		}
	}
	return waits
}
