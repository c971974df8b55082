package narration

import (
	"fmt"
	"strings"

	"stepback/cmd/stepback/terminal"
	"stepback/engine/history"
)

// say updates the visit by an event and returns the text to print for it, or "" if there is none.
func (x *Traced) say(v *Visit, e *history.Event) string {
	switch {
	case e.Type.Entered():
		if v.kind == "Fail" {
			x.last = v
		}
		return v.kind + "  " + terminal.ShortenedTo(e.Data, x.data)
	case e.Type.Exited():
		return v.exit(e, x.data)
	case Fails(e.Type):
		x.last, v.failedAt = v, e.Time
		v.over = v.over || e.Type == history.MapStateFailed || e.Type == history.ParallelStateFailed
		return strings.TrimSuffix(failing(e.Type)+carried(e), " ")
	case starts(e.Type):
		if v.started && v.failedAt == 0 && e.Type != history.MapRunStarted {
			v.failedAt = x.times[e.Previous] // the failure of a nested state
		}
		return v.start(e, x.data)
	}
	switch e.Type {
	case history.MapIterationStarted:
		x.index[e.ID] = e.More.Index
		return ""
	case history.MapIterationSucceeded:
		v.done++
		return fmt.Sprintf("iteration %s succeeded, %d of %d have", v.Iterated(e.More.Index), v.done, v.items)
	case history.MapIterationFailed, history.MapIterationAborted:
		return fmt.Sprintf("iteration %s %s", v.Iterated(e.More.Index), strings.ToLower(strings.TrimPrefix(e.Type.String(),
			"MapIteration")))
	case history.TaskSubmitted:
		return "submitted; waits for its end"
	case history.TaskStateAborted, history.WaitStateAborted, history.MapStateAborted, history.ParallelStateAborted,
		history.MapRunAborted:
		return "aborted"
	default:
		return ""
	}
}

// exit returns the text for leaving a state.
func (v *Visit) exit(e *history.Event, data int) string {
	v.over = true
	said := "done"
	if v.failedAt != 0 {
		said, v.failedAt = "caught", 0
	}
	if e.More != nil && len(e.More.Assigned) > 0 {
		names := make([]string, len(e.More.Assigned))
		for i, a := range e.More.Assigned {
			names[i] = a.Name
		}
		said += ", sets " + strings.Join(names, ", ")
	}
	return said + "  " + terminal.ShortenedTo(e.Data, data)
}

// start returns the text for a state that starts its work, whether for the first time or in a retry.
func (v *Visit) start(e *history.Event, data int) string {
	v.over, v.done, v.started = false, 0, true
	var said string
	if v.failedAt != 0 {
		v.retries++
		said = fmt.Sprintf("retry %d, %s after the failure", v.retries, offset(e.Time-v.failedAt))
		v.failedAt = 0
	}
	switch {
	case e.Type == history.MapStateStarted && e.More != nil:
		if v.items = e.More.Length; v.items == 0 {
			return said // events of a distributed Map have no length
		}
		return joined(said, terminal.Counted(v.items, "item"))
	case e.Type == history.MapRunStarted:
		return joined(said, "Map Run "+e.More.MapRunARN[strings.LastIndexByte(e.More.MapRunARN, ':')+1:])
	case said != "" || e.More == nil:
		return said
	case e.More.ResourceType != "":
		return "calls " + e.More.ResourceType + ":" + e.More.Resource + "  " + terminal.ShortenedTo(e.Data, data)
	case e.More.Resource != "":
		return "calls " + e.More.Resource
	default:
		return ""
	}
}

// joined joins two remarks by a semicolon, leaving out empty ones.
func joined(first, second string) string {
	if first == "" {
		return second
	}
	return first + "; " + second
}

// starts reports whether a state starts its work with an event of type t.
func starts(t history.Type) bool {
	return t.Step() == history.StepScheduled || t == history.MapStateStarted || t == history.MapRunStarted ||
		t == history.ParallelStateStarted
}

// Fails reports whether an event of type t is the failure of a state, to which the state's Retry and Catch apply.
func Fails(t history.Type) bool { return failing(t) != "" }

// failing returns the text for a failure of type t, or "" for other events.
func failing(t history.Type) string {
	switch t {
	case history.MapStateFailed, history.ParallelStateFailed, history.EvaluationFailed:
		return "failed"
	case history.TaskStartFailed, history.LambdaFunctionStartFailed, history.LambdaFunctionScheduleFailed,
		history.ActivityScheduleFailed:
		return "could not be started"
	case history.TaskSubmitFailed:
		return "could not be submitted"
	case history.MapRunFailed:
		return "Map Run failed"
	default:
	}
	switch {
	case t.TimedOut():
		return "timed out"
	case t.Step() == history.StepFailed:
		return "failed"
	default:
		return ""
	}
}
