package pipeline

import (
	"stepback/engine/history"
	"stepback/retry"
	"stepback/statemachine"
)

// Advice returns one sentence on what the reader of the report should do next; empty if there is nothing to do.
func (r *Report) Advice() string {
	lost := r.Rows != nil && r.Rows.Rejected+r.Rows.DeadLettered > 0
	switch v := r.Verdict(); {
	case v == Complete:
		return ""
	case statemachine.IsRefusal(r.Error) && r.Rows == nil:
		return "Correct the file and import it again, under the same name or another."
	case lost && r.Rows.Rejected == 0:
		return "Fix the cause, then import the corrections file: it contains the rows that were not applied."
	case lost:
		return "Correct the rows in the corrections file and import it: it contains the rows that were not applied."
	case v == Unsuccessful:
		return "Fix the cause, then use --again to import the remaining rows; applied rows are not applied twice."
	default:
		return ""
	}
}

// failedState returns the state of the last failure in a history; empty if there was none.
func failedState(events []history.Event) string {
	for i := len(events) - 1; i >= 0; i-- {
		if t := events[i].Type; t.Step() == history.StepFailed || t == history.MapRunFailed {
			return history.StateOf(events, &events[i])
		}
	}
	return ""
}

// causeOf returns the cause of a failure for display. Step Functions gives no cause for a timeout, so causeOf
// supplies one.
func causeOf(name, cause string) string {
	if cause == "" && name == retry.StatesTimeout {
		return "No attempt returned within the state's timeout."
	}
	return cause
}
