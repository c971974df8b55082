package timeline

import (
	"strings"
	"time"

	"stepback/engine/durable"
	"stepback/engine/history"
)

// operation applies an event of an execution of a durable function, and returns the visit of the operation that it is
// about: a visit for each operation, below that of its CONTEXT. It returns nil for the end of an invocation, and for an
// event that is damaged.
func (r *reader) operation(e *history.Event) *Visit {
	d, err := durable.DetailsOf(e)
	if err == nil && e.Type == history.DurableInvocationCompleted {
		r.t.Invocations.read(e, d)
	}
	if err != nil || d.ID == "" {
		return nil
	}
	v := r.operations[d.ID]
	if v == nil {
		v = &Visit{Number: len(r.t.Visits), State: e.Name, Type: typeOf(e.Type), Operation: d.ID, SubType: d.SubType,
			Entered: e.At(), Entry: e.ID, Outcome: Running, Index: -1, CallbackID: d.CallbackID, Next: d.Until}
		if v.Parent = r.operations[d.ParentID]; v.Parent != nil {
			v.Depth = v.Parent.Depth + 1
		}
		if v.Passive() {
			v.Outcome = Waiting
		}
		if d.Timeout > 0 {
			v.Next = e.At().Add(d.Timeout)
		}
		r.t.Visits = append(r.t.Visits, v)
		r.open = append(r.open, v)
		if r.operations == nil {
			r.operations = map[string]*Visit{}
		}
		r.operations[d.ID] = v
	}
	if v.Type == durable.TypeStep {
		r.step(e, v, d)
		return v
	}
	if strings.HasSuffix(e.Type.String(), "Started") {
		return v
	}
	r.leave(e, v, outcomeOf(e.Type), failureOf(e))
	return v
}

// step applies an event of a STEP.
func (r *reader) step(e *history.Event, v *Visit, d *durable.Details) {
	v.Next = time.Time{}
	if a := v.last(); e.Type == history.DurableStepStarted || a == nil || !a.Ended.IsZero() {
		if a != nil && a.Ended.IsZero() { // its invocation was lost
			finish(a, e, Aborted)
		}
		r.attempt(e, v, false)
		v.last().Started = e.At()
	}
	if e.Type == history.DurableStepStarted {
		return
	}
	outcome, failure := outcomeOf(e.Type), failureOf(e)
	finish(v.last(), e, outcome)
	v.last().Failure = failure
	if d.Delay == 0 {
		r.leave(e, v, outcome, failure)
		return
	}
	v.Failure, v.Outcome, v.Next = failure, Waiting, e.At().Add(d.Delay)
}

// leave ends the visit of an operation.
func (r *reader) leave(e *history.Event, v *Visit, outcome Outcome, f history.Failure) {
	v.Left, v.Exit, v.Outcome, v.Failure, v.Next = e.At(), e.ID, outcome, f, time.Time{}
	r.close(v)
}

func outcomeOf(t history.Type) Outcome {
	switch t {
	case history.DurableWaitCancelled, history.DurableInvokeStopped:
		return Aborted
	case history.DurableInvokeTimedOut, history.DurableCallbackTimedOut:
		return TimedOut
	case history.DurableStepFailed, history.DurableContextFailed, history.DurableInvokeFailed,
		history.DurableCallbackFailed:
		return Failed
	default:
		return Succeeded
	}
}

// typeOf returns the type of the operation that an event is about.
func typeOf(t history.Type) string {
	switch {
	case t <= history.DurableContextFailed:
		return durable.TypeContext
	case t <= history.DurableWaitCancelled:
		return durable.TypeWait
	case t <= history.DurableStepFailed:
		return durable.TypeStep
	case t <= history.DurableInvokeStopped:
		return durable.TypeChainedInvoke
	default:
		return durable.TypeCallback
	}
}
