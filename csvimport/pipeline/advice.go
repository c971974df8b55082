package pipeline

import (
	"stepback/engine/history"
	"stepback/retry"
	"stepback/statemachine"
)

// Advice is what whoever reads the report can do about it, in one sentence; empty when there is nothing to do.
func (r *Report) Advice() string {
	lost := r.Rows != nil && r.Rows.Rejected+r.Rows.DeadLettered > 0
	switch v := r.Verdict(); {
	case v == Complete:
		return ""
	case statemachine.IsRefusal(r.Error) && r.Rows == nil:
		return "Correct the file and import it again, under the same name or another."
	case lost && r.Rows.Rejected == 0:
		return "Import the corrections file once the cause is gone: it holds the rows that were not applied."
	case lost:
		return "Correct the rows in the corrections file and import that: it holds the rows that were not applied."
	case v == Unsuccessful:
		return "Once the cause is gone, --again imports what is left; what was applied stays applied once."
	default:
		return ""
	}
}

// failedState is the state whose failure was the last in a history; empty when there was none.
func failedState(events []history.Event) string {
	for i := len(events) - 1; i >= 0; i-- {
		switch events[i].Type {
		case history.TaskFailed, history.TaskTimedOut, history.TaskStartFailed, history.TaskSubmitFailed,
			history.MapRunFailed:
			return stateOf(events, &events[i])
		default:
		}
	}
	return ""
}

// stateOf follows an event back to where its state was entered.
func stateOf(events []history.Event, e *history.Event) string {
	for !e.Type.Entered() {
		if e.Previous < 1 || e.Previous > int64(len(events)) {
			return ""
		}
		e = &events[e.Previous-1]
	}
	return e.Name
}

// causeOf is the cause of a failure for people: Step Functions gives a timeout none.
func causeOf(name, cause string) string {
	if cause == "" && name == retry.StatesTimeout {
		return "No answer came within the time that the state allows, in any of its attempts."
	}
	return cause
}
