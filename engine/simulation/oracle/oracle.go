// Package oracle judges histories of executions of simulated machines. It reads a history from its first event to its
// last and follows every thread of control through the model of the machine, predicting from the model alone what may
// come next: which state, which retrier or catcher, at what time, with which data. It is written from the language's
// rules and imports nothing of the engine except the form of a history. It never runs a machine.
package oracle

import (
	"errors"
	"fmt"
	"time"

	"stepback/engine/history"
	"stepback/engine/simulation/machine"
)

// Subject is an execution to judge.
type Subject struct {
	Root *machine.Scope
	// TimeoutSeconds is the limit of the whole execution; 0 means the limit of every execution, a year.
	TimeoutSeconds int
	Input          string
	History        []history.Event
	// Status is the execution's status; RUNNING allows a history without an end.
	Status string
	// Stopped is true if the execution was asked to stop.
	Stopped bool
	// Lateness is the maximum delay with which a timer may fire; 0 demands punctuality. It is shorter than a quarter
	// of a second.
	Lateness time.Duration
}

// Check returns the first fault in a history, or nil. The error names the event.
func Check(s *Subject) error {
	j := &judge{Subject: s, who: make([]*thread, len(s.History)+1)}
	for i := range s.History {
		e := &s.History[i]
		if err := j.event(i, e); err != nil {
			return fmt.Errorf("event %d %s %s (after %d, at %s): %w", e.ID, e.Type, e.Name, e.Previous,
				e.At().Format(time.RFC3339Nano), err)
		}
	}
	return j.end()
}

// longest is the maximum number of events in a history; an execution fails rather than exceed it.
const longest = 25_000

// judge checks one history.
type judge struct {
	*Subject
	now, start int64
	root       *thread
	all        []*thread // the threads that may be running
	who        []*thread // by event ID: the thread the event belongs to
	late       []overrun // timed-out tasks whose failure has not been processed yet
	expected   []expectation
	ended      bool
}

var statuses = map[history.Type]string{
	history.ExecutionSucceeded: "SUCCEEDED", history.ExecutionFailed: "FAILED",
	history.ExecutionAborted: "ABORTED", history.ExecutionTimedOut: "TIMED_OUT",
}

func (j *judge) end() error {
	n := len(j.History)
	switch {
	case n == 0:
		return errors.New("the history is empty")
	case !j.ended && j.Status != "RUNNING":
		return fmt.Errorf("the history has no end, but the status is %s", j.Status)
	case j.ended && statuses[j.History[n-1].Type] != j.Status:
		return fmt.Errorf("the last event is %s, but the status is %s", j.History[n-1].Type, j.Status)
	}
	return nil
}

// event checks the form and the content of an event.
func (j *judge) event(i int, e *history.Event) error {
	switch {
	case e.ID != int64(i)+1:
		return fmt.Errorf("its place is %d", i+1)
	case e.Previous >= e.ID || e.Previous < 0:
		return errors.New("it follows from an event that is not earlier")
	case e.Previous == 0 && e.ID > 2 && e.Type != history.ExecutionAborted:
		return errors.New("it follows from nothing")
	case e.Time < j.now:
		return errors.New("time goes backwards")
	case j.ended:
		return errors.New("the execution has ended before")
	case (e.ID == 1) != (e.Type == history.ExecutionStarted):
		return errors.New("ExecutionStarted is the first event and no other")
	}
	if e.ID == 1 {
		return j.begin(e)
	}
	if e.Type != history.TaskTimedOut && e.Type != history.LambdaFunctionTimedOut &&
		e.Type != history.ActivityTimedOut || e.Time > j.now {
		if err := j.settle(); err != nil {
			return err
		}
	}
	if e.Time > j.now {
		if err := j.nothingMissing(); err != nil {
			return err
		}
		if err := j.overdue(e); err != nil {
			return err
		}
	}
	j.now = e.Time
	if e.Type == history.ExecutionAborted || e.Type == history.ExecutionTimedOut {
		return j.cut(e)
	}
	if e.ID == longest && e.Type == history.ExecutionFailed {
		j.ended = true
		return nil
	}
	t, err := j.expects(e)
	if err != nil {
		return err
	}
	if t == nil {
		t = j.who[e.Previous]
	}
	if t == nil {
		t = j.root
	}
	j.who[e.ID] = t
	return j.happen(t, e)
}

// begin handles ExecutionStarted.
func (j *judge) begin(e *history.Event) error {
	if e.Data != j.Input {
		return fmt.Errorf("its input is %s, not %s", e.Data, j.Input)
	}
	j.now, j.start = e.Time, e.Time
	j.root = j.thread(j.Root, nil, 0)
	j.root.output = &e.Data
	j.root.goTo(j.Root.Start().Name, j.now)
	j.who[1] = j.root
	return nil
}

// cut handles an end caused from outside, which may come at any time, with threads open.
func (j *judge) cut(e *history.Event) error {
	j.ended = true
	if err := j.nothingMissing(); err != nil {
		return err
	}
	if e.Type == history.ExecutionAborted {
		if !j.Stopped {
			return errors.New("the execution was not stopped")
		}
		return nil
	}
	limit := int64(365 * 24 * time.Hour)
	if j.TimeoutSeconds > 0 {
		limit = int64(j.TimeoutSeconds) * int64(time.Second)
	}
	return j.within(j.start+limit, e.Time)
}

// happen dispatches an event of a thread.
func (j *judge) happen(t *thread, e *history.Event) error {
	switch {
	case e.Type.Entered():
		return j.enter(t, e)
	case e.Type.Exited():
		return j.exit(t, e)
	case e.Type.Terminal():
		j.ended = true // expected, and checked as such
		return j.nothingMissing()
	}
	switch e.Type {
	case history.ParallelStateStarted, history.MapStateStarted:
		return j.fanStarted(t, e)
	case history.MapIterationStarted:
		return j.iterationStarted(t, e)
	case history.MapIterationSucceeded:
		return j.iterationSucceeded(t)
	case history.ParallelStateSucceeded, history.MapStateSucceeded:
		j.expect(t, exited(t.state))
		return nil
	case history.MapRunStarted, history.MapRunSucceeded, history.MapRunFailed:
		return j.mapRun(t, e)
	case history.ParallelStateFailed, history.MapStateFailed, history.MapIterationFailed, history.MapIterationAborted,
		history.TaskStateAborted, history.WaitStateAborted, history.ParallelStateAborted, history.MapStateAborted:
		return nil // expected, and checked as such
	default:
		return j.task(t, e)
	}
}
