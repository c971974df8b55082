package oracle

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"stepback/engine/history"
	"stepback/engine/simulation/machine"
)

// enter handles the entry of a state.
func (j *judge) enter(t *thread, e *history.Event) error {
	if f := t.children; f != nil && t.state != nil && t.state.Type == machine.Parallel {
		if t = f.branch(j, e.Name); t == nil {
			return errors.New("no branch that has not begun starts with it")
		}
		j.who[e.ID] = t
	}
	s := t.scope.Find(e.Name)
	switch {
	case s == nil:
		return errors.New("there is no such state in this scope")
	case t.gone || t.phase != between || t.next != e.Name:
		return fmt.Errorf("its thread is not about to enter it, but %q", t.next)
	case e.Type != enteredTypes[s.Type]:
		return fmt.Errorf("the state is of type %s", s.Type)
	case e.Time != t.from:
		return errors.New("time has passed since the exit of the state before")
	}
	if *t.output != e.Data && (t.fan == nil || !reflect.DeepEqual(decoded(*t.output), decoded(e.Data))) {
		return fmt.Errorf("its input %s is not the output before it, %s", e.Data, *t.output)
	}
	*t = thread{scope: t.scope, fan: t.fan, index: t.index, state: s, phase: entered, entry: e.Time, input: e.Data,
		from: e.Time, to: e.Time,
		retries: make([]int, len(s.Retry))}
	return j.entered(t)
}

// entered predicts the behaviour of a state that is entered.
func (j *judge) entered(t *thread) error {
	s := t.state
	switch s.Type {
	case machine.Pass, machine.Succeed:
		t.next = s.Next
		j.expect(t, exited(s))
	case machine.Choice:
		return j.choose(t)
	case machine.Fail:
		return j.fail(t, failure{Failure: history.Failure{Name: s.Fail.Error, Cause: s.Fail.Cause}, knownCause: true})
	case machine.Wait:
		t.phase = waiting
		t.from = j.wakes(t)
		t.to = t.from
	case machine.Parallel:
		j.expect(t, history.ParallelStateStarted)
	case machine.Map:
		j.expect(t, history.MapStateStarted)
	case machine.Task:
		if s.Task.Kind != machine.Activity { // an activity is scheduled a step later, once it is known to exist
			j.expect(t, family[s.Task.Kind].scheduled)
		}
	}
	return nil
}

// wakes returns the time at which a Wait state ends.
func (j *judge) wakes(t *thread) int64 {
	w := t.state.Wait
	switch w.Form {
	case machine.SecondsPath:
		return t.entry + int64(number(t.input, "n"))*int64(time.Second)
	case machine.Timestamp:
		return max(t.entry, machine.Epoch.Add(time.Duration(w.Seconds)*time.Second).UnixNano())
	default:
		return t.entry + int64(w.Seconds)*int64(time.Second)
	}
}

// exit handles the exit of a state.
func (j *judge) exit(t *thread, e *history.Event) error {
	t = t.up(func(x *thread) bool { return x.state != nil && x.state.Name == e.Name })
	if t == nil || t.gone {
		return errors.New("it follows from no thread in which the state is open")
	}
	s := t.state
	if e.Type != exited(s) {
		return fmt.Errorf("the state is of type %s", s.Type)
	}
	if t.phase == waiting {
		if err := j.within(t.from, e.Time); err != nil {
			return err
		}
		t.phase = done
	}
	if t.phase == retrying || t.phase == working && s.Type == machine.Task {
		return errors.New("the state is not done")
	}
	next := s.Next
	if t.caught != nil {
		next = t.caught.Next
	}
	if s.Type == machine.Choice {
		next = t.next
	}
	if err := j.judgeOutput(t, e.Data); err != nil {
		return err
	}
	j.who[e.ID] = t
	t.children = nil
	t.output = &e.Data
	if next == "" {
		t.state, t.to = nil, 0
		return j.finished(t)
	}
	t.goTo(next, e.Time)
	return nil
}

// finished predicts the consequences of a thread's end.
func (j *judge) finished(t *thread) error {
	t.gone = true
	if t.fan == nil {
		j.expectThat(t, history.ExecutionSucceeded, func(e *history.Event) error {
			if e.Data != *t.output {
				return fmt.Errorf("its output %s is not that of the last state, %s", e.Data, *t.output)
			}
			return nil
		})
		return nil
	}
	return j.joined(t)
}
