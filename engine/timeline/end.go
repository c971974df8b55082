package timeline

import (
	"slices"
	"time"

	"stepback/engine/history"
)

// end records the end of the execution and ends all open visits.
func (r *reader) end(e *history.Event) {
	r.t.Failure = failureOf(e)
	switch e.Type {
	case history.ExecutionSucceeded:
		r.t.Status = history.Succeeded
	case history.ExecutionAborted:
		r.t.Status = history.Aborted
	case history.ExecutionTimedOut:
		r.t.Status = history.TimedOut
	default:
		r.t.Status = history.Failed
	}
	cause := r.t.Of(e.Previous)
	for _, v := range r.open {
		v.over, v.Left, v.Next = true, e.At(), time.Time{}
		switch {
		case e.Type == history.ExecutionFailed && (v == cause || contains(v, cause)):
			v.Outcome = Failed
			if v.Failure.IsZero() {
				v.Failure = failureOf(e)
			}
		case v.Outcome == Waiting && v.Type == "Task", v.Outcome == Failed, v.Type == "Fail":
			v.Outcome = Failed
		default:
			v.Outcome = Aborted
		}
		outcome := v.Outcome
		finish(v.last(), e, outcome)
	}
	r.resuming, r.open = r.open, nil
}

// contains reports whether v is inner or one of the visits around it.
func contains(v, inner *Visit) bool {
	for ; inner != nil; inner = inner.Parent {
		if inner == v {
			return true
		}
	}
	return false
}

// redrive records a redrive: the execution runs again, and the visits that had not ended are resumed.
func (r *reader) redrive(e *history.Event) {
	r.redrives++
	r.redriven = e.ID
	r.t.Redrives = append(r.t.Redrives, e.At())
	r.t.Status, r.t.Failure = history.Running, history.Failure{}
	var fresh []*Visit
	for _, v := range r.t.Visits {
		if v.over && v.Exit == 0 || v.over && (v.Outcome == Aborted || v.Outcome == Failed) {
			fresh = append(fresh, v)
		}
	}
	r.resuming = fresh
	for _, v := range fresh {
		if v.Type == "Parallel" || v.Type == "Map" {
			v.over, v.Outcome, v.Left = false, Running, time.Time{}
			r.open = append(r.open, v)
		}
	}
}

// resumed returns the visit that an event after a redrive continues: the one whose state the reader of attempts has
// found for it.
func (r *reader) resumed(e *history.Event) *Visit {
	if e.Type.Step() != history.StepScheduled && e.Type.Step() != history.StepFailed || r.task == nil {
		return nil
	}
	v := r.t.Of(r.task.Entered)
	if v == nil || v.Type != "Task" || v.Entry != r.task.Entered {
		return nil
	}
	r.resuming = slices.DeleteFunc(slices.Clone(r.resuming), func(o *Visit) bool { return o == v })
	if !slices.Contains(r.open, v) {
		r.open = append(r.open, v)
	}
	v.over, v.Left, v.Exit = false, time.Time{}, 0
	return v
}

// again returns the earlier visit of a state that a redrive enters again; the new visit takes its place.
func (r *reader) again(state string) *Visit {
	for _, v := range r.resuming {
		if v.State == state {
			return v
		}
	}
	return nil
}
