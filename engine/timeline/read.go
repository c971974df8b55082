package timeline

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"stepback/engine/durable"
	"stepback/engine/history"
)

// Read reads a history from its first event on. The history of a running execution may end anywhere. Events that do
// not fit the preceding ones are ignored.
func Read(events []history.Event) *Timeline {
	r := &reader{t: &Timeline{Status: history.Running}, events: events}
	if len(events) == 0 {
		return r.t
	}
	r.t.first = events[0].ID
	r.t.byEvent = make([]*Visit, len(events))
	r.t.Begin = events[0].At()
	for i := range events {
		e := &events[i]
		if e.ID != r.t.first+int64(i) {
			break // histories have no gaps
		}
		r.task = r.attempts.Read(e).Attempt
		var v *Visit
		if e.Type >= history.DurableContextStarted {
			v = r.operation(e)
		} else {
			v = r.place(e)
			r.apply(e, v)
		}
		r.t.byEvent[i] = v
		r.t.End = e.At()
	}
	r.settle()
	return r.t
}

// reader reads a single history.
type reader struct {
	t      *Timeline
	events []history.Event
	open   []*Visit // entered and not ended, oldest first

	attempts history.AttemptReader
	task     *history.Attempt // the attempt that the event being read belongs to; nil if there is none

	operations map[string]*Visit // of a durable function, by ID

	redrives int
	redriven int64    // ID of the last ExecutionRedriven event
	resuming []*Visit // visits that the last redrive can continue
}

// event returns the event with this ID, or nil if it has not been read.
func (r *reader) event(id int64) *history.Event {
	if i := id - r.t.first; i >= 0 && i < int64(len(r.events)) {
		return &r.events[i]
	}
	return nil
}

// place returns the visit of an event and creates it if needed.
func (r *reader) place(e *history.Event) *Visit {
	before := r.t.Of(e.Previous)
	switch {
	case e.Type.Entered():
		return r.enter(e, before)
	case e.Type.Terminal(), e.Type == history.ExecutionStarted, e.Type == history.ExecutionRedriven:
		return nil
	case e.Type.Exited():
		return r.up(before, func(v *Visit) bool { return v.State == e.Name && !v.over })
	case e.Type == history.TaskStateAborted, e.Type == history.WaitStateAborted:
		return r.aborted(e, before)
	}
	if kind := fan(e.Type); kind != "" {
		if aborts(e.Type) {
			return r.aborted(e, before)
		}
		return r.up(before, func(v *Visit) bool {
			return v.Type == kind && !v.over && (e.Name == "" || e.Name == v.State)
		})
	}
	if before == nil && e.Previous == r.redriven {
		return r.resumed(e)
	}
	return before
}

// fan returns the type of state, Parallel or Map, for an event that concerns all its branches or iterations, or ""
// for other events.
func fan(t history.Type) string {
	switch t {
	case history.ParallelStateStarted, history.ParallelStateSucceeded, history.ParallelStateFailed,
		history.ParallelStateAborted:
		return "Parallel"
	case history.MapStateStarted, history.MapStateSucceeded, history.MapStateFailed, history.MapStateAborted,
		history.MapIterationStarted, history.MapIterationSucceeded, history.MapIterationFailed,
		history.MapIterationAborted, history.MapRunStarted, history.MapRunRedriven:
		return "Map"
	default:
		return ""
	}
}

func aborts(t history.Type) bool {
	return t == history.ParallelStateAborted || t == history.MapStateAborted
}

// enter creates a visit: nested in the state whose branch or iteration it starts, or next to the preceding visit.
func (r *reader) enter(e *history.Event, before *Visit) *Visit {
	v := &Visit{Number: len(r.t.Visits), State: e.Name, Type: strings.TrimSuffix(e.Type.String(), "StateEntered"),
		Entered: e.At(), Entry: e.ID, Outcome: Running, Index: -1}
	if v.Type == "Wait" {
		v.Outcome = Waiting
	}
	if before == nil && r.redriven != 0 && e.Previous == r.redriven {
		// The state was not entered before, or it is a Fail state that is entered again.
		before = r.again(e.Name)
	}
	if before != nil {
		switch r.event(e.Previous).Type {
		case history.MapIterationStarted:
			v.Parent, v.Index = before, r.event(e.Previous).More.Index
		case history.ParallelStateStarted:
			v.Parent, v.Index = before, before.branches
			before.branches++
		default:
			v.Parent, v.Index = before.Parent, before.Index
		}
	}
	if v.Parent != nil {
		v.Depth = v.Parent.Depth + 1
	}
	r.t.Visits = append(r.t.Visits, v)
	r.open = append(r.open, v)
	return v
}

// up returns the innermost visit around v, including v, that fits accepts; nil if there is none. If v is nil, as
// after a redrive, it returns the oldest open visit that fits accepts.
func (r *reader) up(v *Visit, fits func(*Visit) bool) *Visit {
	if v == nil {
		if i := slices.IndexFunc(r.open, fits); i >= 0 {
			return r.open[i]
		}
		return nil
	}
	for ; v != nil; v = v.Parent {
		if fits(v) {
			return v
		}
	}
	return nil
}

// aborted returns the visit that an event aborts: first the one whose failure is the cause, then the others of the
// innermost Parallel or Map state around the cause that has any, oldest first. The events do not name the state.
func (r *reader) aborted(e *history.Event, cause *Visit) *Visit {
	kind, _ := strings.CutSuffix(e.Type.String(), "StateAborted")
	if cause == nil {
		if i := slices.IndexFunc(r.open, func(v *Visit) bool { return v.Type == kind }); i >= 0 {
			return r.open[i]
		}
		return nil
	}
	if cause.Type == kind && !cause.over && !aborts(e.Type) {
		return cause
	}
	for around := cause; around != nil; around = around.Parent {
		i := slices.IndexFunc(r.open, func(v *Visit) bool {
			return v.Type == kind && v != around && contains(around, v) && !contains(v, cause)
		})
		if i >= 0 {
			return r.open[i]
		}
	}
	return nil
}

// apply updates the visit with an event.
func (r *reader) apply(e *history.Event, v *Visit) {
	if e.Type == history.ExecutionStarted && strings.Contains(e.Data, `"ExecutionStartedDetails":`) {
		r.t.Durable = true
		if d, err := durable.DetailsOf(e); err == nil && d.Timeout > 0 {
			r.t.TimesOut = e.At().Add(d.Timeout)
		}
	}
	if e.Type.Terminal() {
		r.end(e)
		return
	}
	if e.Type == history.ExecutionRedriven {
		r.redrive(e)
		return
	}
	if v == nil {
		return
	}
	if e.Type.Step() != history.NoStep {
		r.revive(v)
	}
	switch e.Type.Step() {
	case history.StepScheduled:
		r.attempt(e, v, false)
	case history.StepStarted:
		if a := v.last(); a != nil && a.Started.IsZero() {
			a.Started, a.Last = e.At(), e.ID
		}
	case history.StepSubmitted:
		if a := v.last(); a != nil {
			a.Last = e.ID
		}
	case history.StepSucceeded:
		finish(v.last(), e, Succeeded)
	case history.StepFailed:
		f := failureOf(e)
		outcome := Failed
		if e.Type.TimedOut() {
			outcome, f = TimedOut, history.NewFailure(cmp.Or(f.Name, "States.Timeout"), f.Cause)
		}
		if a := v.last(); a != nil && a.Ended.IsZero() {
			finish(a, e, outcome)
			a.Failure = f
		}
		v.Failure, v.Outcome = f, Waiting // until another event follows
	default:
		r.other(e, v)
	}
}

// revive opens an aborted visit again, because an event of its task shows that another visit was aborted. The events
// do not say which one, and after a redrive the visits of concurrent branches can be taken for each other.
func (r *reader) revive(v *Visit) {
	if !v.over || v.Outcome != Aborted {
		return
	}
	v.over, v.Left, v.Exit, v.Outcome = false, time.Time{}, 0, Running
	r.open = append(r.open, v)
	if a := v.last(); a != nil && a.Outcome == Aborted {
		a.Outcome, a.Ended = Running, time.Time{}
	}
}

// other applies events that do not belong to a task.
func (r *reader) other(e *history.Event, v *Visit) {
	switch e.Type {
	case history.ParallelStateStarted, history.MapStateStarted, history.MapRunStarted, history.MapRunRedriven:
		if a := v.last(); e.Type != history.MapRunStarted || a == nil || !a.Ended.IsZero() {
			r.attempt(e, v, true) // the Map Run of a Map state that has just started is its attempt
		}
		if e.More != nil && e.More.Length > 0 {
			v.Items = e.More.Length
		}
		if e.More != nil && e.More.MapRunARN != "" {
			v.MapRunARN = e.More.MapRunARN
		}
	case history.MapIterationSucceeded:
		v.Done++
	case history.MapIterationFailed, history.MapIterationAborted:
		v.Broken++
	case history.ParallelStateSucceeded, history.MapStateSucceeded, history.MapRunSucceeded:
		finish(v.last(), e, Succeeded)
	case history.ParallelStateFailed, history.MapStateFailed, history.MapRunFailed, history.MapRunAborted,
		history.EvaluationFailed:
		f := failureOf(e)
		if f.IsZero() {
			f = r.cause(e.Previous)
		}
		if a := v.last(); a != nil && a.Ended.IsZero() {
			finish(a, e, Failed)
			a.Failure = f
		}
		if !f.IsZero() {
			v.Failure = f
		}
		v.Outcome = Failed
		if e.Type == history.MapRunFailed || e.Type == history.MapRunAborted {
			v.Outcome = Waiting
		}
	case history.TaskStateAborted, history.WaitStateAborted, history.ParallelStateAborted, history.MapStateAborted:
		r.abort(v, e)
	default:
		if e.Type.Exited() {
			r.exit(e, v)
		}
	}
}

// attempt starts an attempt. An attempt of branches or iterations that is still open has failed because of the
// preceding event.
func (r *reader) attempt(e *history.Event, v *Visit, fan bool) {
	if a := v.last(); a != nil && a.Ended.IsZero() {
		a.Outcome, a.Ended, a.Last = Failed, e.At(), e.Previous
		if cause := r.event(e.Previous); cause != nil {
			a.Ended, a.Failure = cause.At(), r.cause(e.Previous)
			v.Failure = a.Failure
		}
	}
	v.Attempts = append(v.Attempts, Attempt{Number: len(v.Attempts) + 1, Scheduled: e.At(), Outcome: Running,
		First: e.ID, Last: e.ID, Redrive: r.redrives})
	v.Outcome, v.fan, v.over = Running, fan, false
	v.Done, v.Broken, v.branches = 0, 0, 0
	if fan {
		v.last().Started = e.At()
	}
	v.Token = e.More != nil && strings.HasSuffix(e.More.Resource, ".waitForTaskToken")
}

func finish(a *Attempt, e *history.Event, o Outcome) {
	if a != nil && a.Ended.IsZero() {
		a.Outcome, a.Ended, a.Last = o, e.At(), e.ID
	}
}

func (r *reader) exit(e *history.Event, v *Visit) {
	v.Left, v.Exit = e.At(), e.ID
	bad := v.Outcome == Failed || v.Type == "Task" && v.Outcome == Waiting
	if a := v.last(); a != nil && (a.Ended.IsZero() || a.Outcome.Bad()) {
		bad = true
		if a.Ended.IsZero() { // a failed branch that was caught
			finish(a, e, Failed)
			if v.Failure.IsZero() {
				v.Failure = r.cause(e.Previous)
			}
			a.Failure = v.Failure
		}
	}
	v.Outcome = Succeeded
	if bad {
		v.Outcome = Caught
	}
	r.close(v)
}

func (r *reader) abort(v *Visit, e *history.Event) {
	v.Left, v.Exit = e.At(), e.ID
	if v.Outcome == Waiting && !v.Failure.IsZero() && e.Previous == v.last().Last {
		v.Outcome = Failed
	} else {
		finish(v.last(), e, Aborted)
		v.Outcome = Aborted
	}
	r.close(v)
}

func (r *reader) close(v *Visit) {
	v.over = true
	if i := slices.Index(r.open, v); i >= 0 {
		r.open = slices.Delete(r.open, i, i+1)
	}
}

// settle determines what the open visits are waiting for.
func (r *reader) settle() {
	for _, v := range r.open {
		if v.Outcome != Waiting || v.Passive() || v.Operation != "" {
			continue
		}
		if a := v.last(); a == nil || !a.Outcome.Bad() {
			v.Outcome = Running
		}
	}
}

// cause returns the failure in an event, or the last failure of its visit.
func (r *reader) cause(event int64) history.Failure {
	if e := r.event(event); e != nil {
		if f := failureOf(e); !f.IsZero() {
			return f
		}
	}
	if v := r.t.Of(event); v != nil {
		return v.Failure
	}
	return history.Failure{}
}

func failureOf(e *history.Event) history.Failure {
	if e.More == nil {
		return history.Failure{}
	}
	return e.More.Failure
}
