package main

import (
	"fmt"
	"slices"
	"strings"

	"stepback/engine/history"
)

// visit is one run through a state.
type visit struct {
	name     string
	kind     string // Task, Map, …
	parent   *visit // the Map or Parallel state around it
	inMap    bool   // it is in an iteration of its parent
	index    int64  // of that iteration
	over     bool   // it has been left, or as a Map or Parallel state has failed
	failedAt int64  // Unix nanoseconds of its last failure that nothing has followed yet
	started  bool   // it has begun to work
	retries  int
	items    int64 // of an inline Map
	done     int64 // iterations that have ended
}

func (v *visit) depth() int {
	n := 0
	for ; v != nil && v.parent != nil; v = v.parent {
		n++
	}
	return n
}

func (v *visit) label() string {
	if v == nil {
		return ""
	}
	return v.iteration() + v.name + ": "
}

// iteration names the iteration that a visit is in, with those around it, outermost first: "#1/#0 "; it is empty
// outside of Maps.
func (v *visit) iteration() string {
	path := v.iterations()
	if path == "" {
		return ""
	}
	return path + " "
}

// iterated names an iteration of a Map state.
func (v *visit) iterated(index int64) string {
	own := fmt.Sprintf("#%d", index)
	if path := v.iterations(); path != "" {
		return path + "/" + own
	}
	return own
}

// iterations are the indices of the iterations around a visit.
func (v *visit) iterations() string {
	path := ""
	for ; v != nil; v = v.parent {
		if !v.inMap {
			continue
		}
		if path != "" {
			path = "/" + path
		}
		path = fmt.Sprintf("#%d", v.index) + path
	}
	return path
}

// event finds the visit that an event belongs to, and what is to be said of it; empty when that is nothing.
func (x *traced) event(e *history.Event) (*visit, string) {
	v := x.place(e)
	x.visits[e.ID], x.types[e.ID], x.times[e.ID] = v, e.Type, e.Time
	if v == nil {
		if e.Type == history.ExecutionStarted {
			return nil, "started  " + shortened(e.Data)
		}
		if x.name != "" && e.Type.Terminal() {
			return nil, "ended: " + strings.TrimPrefix(e.Type.String(), "Execution") + carried(e)
		}
		return nil, ""
	}
	return v, x.say(v, e)
}

// place finds or makes the visit of an event.
func (x *traced) place(e *history.Event) *visit {
	before := x.visits[e.Previous]
	switch {
	case e.Type.Entered():
		return x.enter(e, before)
	case e.Type.Terminal():
		return nil
	case e.Type.Exited():
		v := before.up(func(v *visit) bool { return v.name == e.Name })
		x.close(v)
		return v
	case aborts(e.Type):
		return x.aborted(e, before)
	case fans(e.Type):
		kind := "Map"
		if strings.HasPrefix(e.Type.String(), "Parallel") {
			kind = "Parallel"
		}
		return before.up(func(v *visit) bool { return v.kind == kind && !v.over })
	default:
		return before
	}
}

// enter makes a visit: inside the state whose branch or iteration it is the first of, or beside the one before it.
func (x *traced) enter(e *history.Event, before *visit) *visit {
	v := &visit{name: e.Name, kind: strings.TrimSuffix(e.Type.String(), "StateEntered")}
	switch x.types[e.Previous] {
	case history.MapIterationStarted:
		v.parent, v.inMap, v.index = before, true, x.index[e.Previous]
	case history.ParallelStateStarted:
		v.parent = before
	default:
		if before != nil {
			v.parent, v.inMap, v.index = before.parent, before.inMap, before.index
		}
	}
	x.open = append(x.open, v)
	return v
}

// aborted is the visit that an event of an abort is of. The event does not name the state, and what is before it may be
// the failure of another branch: it is the oldest open visit to a state of its kind then.
func (x *traced) aborted(e *history.Event, before *visit) *visit {
	kind, _ := strings.CutSuffix(e.Type.String(), "StateAborted")
	v := before
	if before == nil || before.kind != kind || before.failedAt != 0 || !slices.Contains(x.open, before) {
		if i := slices.IndexFunc(x.open, func(v *visit) bool { return v.kind == kind }); i >= 0 {
			v = x.open[i]
		}
	}
	x.close(v)
	return v
}

// close forgets that a visit is open.
func (x *traced) close(v *visit) {
	if i := slices.Index(x.open, v); i >= 0 {
		x.open = slices.Delete(x.open, i, i+1)
	}
}

// aborts reports whether an event ends a state because of what happened elsewhere, and names no state.
func aborts(t history.Type) bool {
	return t == history.TaskStateAborted || t == history.WaitStateAborted
}

// up is the innermost visit around v that fits, or v itself when none does.
func (v *visit) up(fits func(*visit) bool) *visit {
	for around := v; around != nil; around = around.parent {
		if fits(around) {
			return around
		}
	}
	return v
}

// fans reports whether an event is of a whole Map or Parallel state, or of the beginning or end of an iteration. When
// such a state is run once more, that follows from what failed in it.
func fans(t history.Type) bool {
	switch t {
	case history.MapStateStarted, history.ParallelStateStarted, history.MapRunStarted, history.MapStateSucceeded,
		history.MapStateFailed, history.MapStateAborted, history.MapIterationStarted, history.MapIterationSucceeded,
		history.MapIterationFailed, history.MapIterationAborted, history.ParallelStateSucceeded,
		history.ParallelStateFailed, history.ParallelStateAborted:
		return true
	default:
		return false
	}
}

// carried is what an event of an end carries.
func carried(e *history.Event) string {
	if e.More != nil && !e.More.Failure.IsZero() {
		return why(e.More.Failure)
	}
	if e.Data != "" {
		return "  " + shortened(e.Data)
	}
	return ""
}
