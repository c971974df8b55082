package narration

import (
	"fmt"
	"slices"
	"strings"

	"stepback/cmd/stepback/terminal"
	"stepback/engine/history"
)

// Visit is one pass through a state.
type Visit struct {
	name     string
	kind     string // Task, Map, …
	parent   *Visit // the enclosing Map or Parallel state
	inMap    bool   // the visit is in an iteration of its parent
	index    int64  // the index of that iteration
	over     bool   // the state has been left, or is a Map or Parallel state that has failed
	failedAt int64  // Unix nanoseconds of the last failure, until it has been retried or caught
	started  bool   // the state has started its work
	retries  int
	items    int64 // the number of items of an inline Map
	done     int64 // iterations that have ended
}

func (v *Visit) depth() int {
	n := 0
	for ; v != nil && v.parent != nil; v = v.parent {
		n++
	}
	return n
}

func (v *Visit) label() string {
	if v == nil {
		return ""
	}
	return v.iteration() + v.name + ": "
}

// iteration returns the path of the iterations around a visit, outermost first: "#1/#0 ". It returns "" outside of
// Maps.
func (v *Visit) iteration() string {
	path := v.Iterations()
	if path == "" {
		return ""
	}
	return path + " "
}

// Iterated returns the path of one of v's iterations, with the given index.
func (v *Visit) Iterated(index int64) string {
	own := fmt.Sprintf("#%d", index)
	if path := v.Iterations(); path != "" {
		return path + "/" + own
	}
	return own
}

// Iterations returns the path of the iterations around a visit, outermost first.
func (v *Visit) Iterations() string {
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

// Event returns the visit that an event belongs to, and the text to print for it, or "" if there is none.
func (x *Traced) Event(e *history.Event) (*Visit, string) {
	v := x.place(e)
	x.visits[e.ID], x.types[e.ID], x.times[e.ID] = v, e.Type, e.Time
	if v == nil {
		if e.Type == history.ExecutionStarted {
			return nil, "started  " + terminal.Shortened(e.Data)
		}
		if x.name != "" && e.Type.Terminal() {
			return nil, "ended: " + strings.TrimPrefix(e.Type.String(), "Execution") + carried(e)
		}
		return nil, ""
	}
	return v, x.say(v, e)
}

// place finds or creates the visit of an event.
func (x *Traced) place(e *history.Event) *Visit {
	before := x.visits[e.Previous]
	switch {
	case e.Type.Entered():
		return x.enter(e, before)
	case e.Type.Terminal():
		return nil
	case e.Type.Exited():
		v := before.up(func(v *Visit) bool { return v.name == e.Name })
		x.close(v)
		return v
	case aborts(e.Type):
		return x.aborted(e, before)
	case fans(e.Type):
		kind := "Map"
		if strings.HasPrefix(e.Type.String(), "Parallel") {
			kind = "Parallel"
		}
		return before.up(func(v *Visit) bool { return v.kind == kind && !v.over })
	default:
		return before
	}
}

// enter creates a visit. The visit is nested in a Map or Parallel state if it begins one of the state's iterations
// or branches. Otherwise it follows the visit before it, at the same depth.
func (x *Traced) enter(e *history.Event, before *Visit) *Visit {
	v := &Visit{name: e.Name, kind: strings.TrimSuffix(e.Type.String(), "StateEntered")}
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

// aborted returns the visit that an abort event belongs to. The event does not name its state, and the previous
// event may be the failure of another branch. In that case, aborted returns the oldest open visit to a state of
// this kind.
func (x *Traced) aborted(e *history.Event, before *Visit) *Visit {
	kind, _ := strings.CutSuffix(e.Type.String(), "StateAborted")
	v := before
	if before == nil || before.kind != kind || before.failedAt != 0 || !slices.Contains(x.open, before) {
		if i := slices.IndexFunc(x.open, func(v *Visit) bool { return v.kind == kind }); i >= 0 {
			v = x.open[i]
		}
	}
	x.close(v)
	return v
}

// close removes a visit from the list of open visits.
func (x *Traced) close(v *Visit) {
	if i := slices.Index(x.open, v); i >= 0 {
		x.open = slices.Delete(x.open, i, i+1)
	}
}

// aborts reports whether an event aborts a state because something else failed or was stopped. Such an event does
// not name the state.
func aborts(t history.Type) bool {
	return t == history.TaskStateAborted || t == history.WaitStateAborted
}

// up returns the innermost visit for which fits is true, starting with v and continuing outwards. It returns v if
// there is none.
func (v *Visit) up(fits func(*Visit) bool) *Visit {
	for around := v; around != nil; around = around.parent {
		if fits(around) {
			return around
		}
	}
	return v
}

// fans reports whether an event belongs to a whole Map or Parallel state, or is the start or end of an iteration.
// If such a state is retried, its next event refers to the event that failed inside it as the previous one.
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

// carried returns the failure or output that a final event carries.
func carried(e *history.Event) string {
	if e.More != nil && !e.More.Failure.IsZero() {
		return why(e.More.Failure)
	}
	if e.Data != "" {
		return "  " + terminal.Shortened(e.Data)
	}
	return ""
}
