package timeline

import (
	"slices"
	"time"

	"stepback/engine/history"
)

// end ends the execution and all that is open.
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
		v.over, v.Left = true, e.At()
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

// contains reports whether a visit is around another.
func contains(v, inner *Visit) bool {
	for ; inner != nil; inner = inner.Parent {
		if inner == v {
			return true
		}
	}
	return false
}

// redrive opens the execution again, with the visits that had not come to their end.
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

// resumed is the visit that goes on with an event after a redrive.
func (r *reader) resumed(e *history.Event) *Visit {
	for i, v := range r.resuming {
		if v.Type != "Task" || stepOf(e.Type) != scheduled {
			continue
		}
		r.resuming = slices.Delete(slices.Clone(r.resuming), i, i+1)
		v.over, v.Left, v.Exit = false, time.Time{}, 0
		r.open = append(r.open, v)
		return v
	}
	return nil
}

// again is the visit of a state that a redrive enters once more; its place is that of the new one.
func (r *reader) again(state string) *Visit {
	for _, v := range r.resuming {
		if v.State == state {
			return v
		}
	}
	return nil
}
