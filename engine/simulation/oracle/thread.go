package oracle

import (
	"fmt"
	"slices"
	"time"

	"stepback/engine/history"
	"stepback/engine/simulation/machine"
)

// thread is one thread of control: the machine itself, a branch of a Parallel state or an iteration of an inline Map.
type thread struct {
	scope *machine.Scope
	fan   *fan // the fan it is part of; nil for the machine itself
	index int

	state   *machine.State // the open state; nil between states and after the end
	phase   phase
	entry   int64 // time at which the state was entered
	input   string
	output  *string // output of the last exited state
	next    string  // between states: the one to enter
	result  any     // result of the state's work
	gone    bool    // aborted, or its end has been handled
	caught  *machine.Catcher
	failure failure

	retries  []int // counts for each retrier of the open state
	from, to int64 // when the event that the state waits for must happen, in ns; to is 0 if there is no limit
	started  int64 // of a task: when its time limits started to run
	children *fan
}

// phase is the progress of the open state.
type phase int

const (
	between  phase = iota
	entered        // nothing has happened yet
	working        // a task, a Map Run or inner threads are running
	waiting        // in a Wait state
	retrying       // waiting for the delay of a retry
	done           // the exit is next
)

// failure is an error being raised. Causes that the model cannot know are not checked.
type failure struct {
	history.Failure
	heartbeat  bool
	knownCause bool
}

func (j *judge) thread(s *machine.Scope, f *fan, index int) *thread {
	t := &thread{scope: s, fan: f, index: index}
	j.all = append(j.all, t)
	return t
}

// goTo makes the thread enter the state with this name next, at once.
func (t *thread) goTo(name string, now int64) {
	t.state, t.phase, t.next, t.from, t.to = nil, between, name, now, now
}

// up returns the innermost thread, from this one outwards, for which is returns true.
func (t *thread) up(is func(*thread) bool) *thread {
	for t != nil && !is(t) {
		if t.fan == nil {
			return nil
		}
		t = t.fan.owner
	}
	return t
}

// within checks that an event happened at a time known beforehand, or at most Lateness later.
func (j *judge) within(want, got int64) error {
	if got < want || got > want+int64(j.Lateness) {
		return fmt.Errorf("it should happen at %s", time.Unix(0, want).UTC().Format(time.RFC3339Nano))
	}
	return nil
}

// overdue reports a thread that has missed the time at which something should have happened.
func (j *judge) overdue(e *history.Event) error {
	j.all = slices.DeleteFunc(j.all, func(t *thread) bool { return t.gone })
	for _, t := range j.all {
		if !t.gone && t.to > 0 && t.to+int64(j.Lateness) < e.Time {
			name := t.next
			if t.state != nil {
				name = t.state.Name
			}
			return fmt.Errorf("before it, something should have happened to state %s by %s", name,
				time.Unix(0, t.to).UTC().Format(time.RFC3339Nano))
		}
	}
	return nil
}

// instant formats a time as the context object shows it.
func instant(ns int64) string {
	t := time.Unix(0, ns).UTC()
	if t.Nanosecond()/1e6 == 0 {
		return t.Format("2006-01-02T15:04:05Z")
	}
	return t.Format("2006-01-02T15:04:05.000Z")
}
