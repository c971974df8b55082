package simulation

import (
	"encoding/json"
	"time"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/plan"
	"stepback/jsonvalue"
)

// happening is a signal that will be delivered to an execution at its time unless the task or timer it belongs to is
// cancelled.
type happening struct {
	at    time.Time
	event interpreter.Signal
}

// seconds draws the delay of an answer: whole seconds, so that answers coincide with timers.
func (d *draws) seconds(n int) time.Duration { return time.Duration(d.Intn(n)) * time.Second }

// answers draws the outcome of a task: the signals that a worker will report, in the order of their times.
func (d *draws) answers(id int64, call *interpreter.TaskCall, now time.Time) []happening {
	var out []happening
	report := func(at time.Time, e interpreter.Signal) {
		e.ID = id
		out = append(out, happening{at, e})
	}
	at := now.Add(d.seconds(4))
	if call.Heartbeat > 0 && call.Task.Target != plan.Activity {
		at = at.Add(500 * time.Millisecond) // so that a heartbeat and the task's timeout are not due at the same time
	}
	switch {
	case call.Task.Target == plan.Activity:
		report(now, interpreter.Signal{Kind: interpreter.TaskScheduled})
		if d.one(6) {
			return out // no worker ever polls for the task
		}
		report(at, interpreter.Signal{Kind: interpreter.TaskStarted, Worker: "w"})
	case call.Task.Pattern != plan.RequestResponse:
		if d.one(8) {
			report(at, interpreter.Signal{Kind: interpreter.TaskSubmitFailed, Failure: d.failure()})
			return out
		}
		report(at, interpreter.Signal{Kind: interpreter.TaskSubmitted, Output: jsonvalue.TextDocument(`{"id":1}`)})
	case d.one(10):
		report(at, interpreter.Signal{Kind: interpreter.TaskStartFailed, Failure: d.failure()})
		return out
	}
	if call.Heartbeat > 0 {
		for beat := 0; beat < 3 && d.one(2); beat++ { // at half seconds after the task's call, for the same reason
			at = now.Add(at.Sub(now).Truncate(time.Second) + d.seconds(3) + 500*time.Millisecond)
			report(at, interpreter.Signal{Kind: interpreter.TaskHeartbeat})
		}
	}
	at = at.Add(d.seconds(10))
	switch d.Intn(6) {
	default:
		report(at, interpreter.Signal{Kind: interpreter.TaskSucceeded, Output: jsonvalue.TextDocument(d.payload())})
	case 3, 4:
		report(at, interpreter.Signal{Kind: interpreter.TaskFailed, Failure: d.failure()})
	case 5: // hangs
	}
	return out
}

// failure draws an error as a worker reports it.
func (d *draws) failure() history.Failure {
	name := pick(d, "Boom", "Throttled", "Odd", "Boom", "Throttled", "States.Timeout", "States.Runtime", "")
	f := history.Failure{Name: name}
	if !d.one(4) {
		f.Cause = "because"
	}
	return f
}

// payload draws a document of the form that all payloads of a simulated machine have.
func (d *draws) payload() string {
	items := make([]int, d.Intn(6))
	for i := range items {
		items[i] = d.Intn(6)
	}
	text, err := json.Marshal(map[string]any{"n": d.Intn(6), "items": items})
	if err != nil {
		panic("simulation: numbers cannot be written as JSON: " + err.Error())
	}
	return string(text)
}

// mapRun draws the outcome of a Map Run.
func (d *draws) mapRun(id int64, now time.Time) []happening {
	e := interpreter.Signal{Kind: interpreter.MapRunSucceeded, ID: id,
		Output: jsonvalue.TextDocument("[" + d.payload() + "]")}
	if d.one(3) {
		name := pick(d, plan.ErrExceedToleratedFailure, plan.ErrItemReaderFailed, plan.ErrRuntime)
		e = interpreter.Signal{Kind: interpreter.MapRunFailed, ID: id, Failure: history.NewFailure(name, "because")}
	}
	return []happening{{now.Add(d.seconds(10)), e}}
}
