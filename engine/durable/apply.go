package durable

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"stepback/engine/history"
)

// Apply applies a command at a time, and returns the events that it produced. The error is a *Refusal if the API must
// reject the command; the state is then unchanged. A command that comes too late returns no events and no error.
func (x *Execution) Apply(c *Command, now time.Time) ([]history.Event, error) {
	return x.apply(c, now, false)
}

// Replay applies a command that Apply has accepted before.
func (x *Execution) Replay(c *Command, at time.Time) error {
	_, err := x.apply(c, at, true)
	return err
}

var errEmpty = errors.New("durable: a command without content")

func (x *Execution) apply(c *Command, now time.Time, again bool) ([]history.Event, error) {
	log := &log{x: x, now: now, again: again, held: c.Held}
	var err error
	switch {
	case c.Start != nil:
		x.begin(log, c.Start)
	case x.Over():
		return nil, x.late(c)
	case c.Invoke != nil:
		x.due(log)
		x.invoke(c.Invoke, now)
	case c.Checkpoint != nil:
		err = x.checkpoint(log, c.Checkpoint, again)
	case c.Return != nil:
		x.returned(log, c.Return)
	case c.Tick != nil:
		x.due(log)
	case c.Callback != nil:
		err = x.callback(log, c.Callback)
	case c.Chained != nil:
		x.chained(log, c.Chained)
	case c.Retry != nil:
		err = x.retry(log, c.Retry, again)
	case c.Stop != nil:
		x.end(log, Stopped, nil, c.Stop.Error)
	default:
		err = errEmpty
	}
	return log.events, err
}

// late returns what a command for an ended execution gets.
func (x *Execution) late(c *Command) error {
	switch {
	case c.Checkpoint != nil:
		return invalid(badToken + "The durable execution has ended.")
	case c.Callback != nil:
		return closed()
	}
	return nil
}

func (x *Execution) begin(l *log, s *Start) {
	*x = Execution{start: *s, status: Running, began: l.now, byID: map[string]*Operation{}, steps: map[string]int64{},
		deadline: l.now.Add(time.Duration(s.TimeoutSeconds) * time.Second)}
	input := s.Input
	x.add(&Operation{ID: s.ID, Type: TypeExecution, Status: Started, Start: l.now, Result: &input})
	l.add(history.ExecutionStarted, nil, &body{Id: s.ID, ExecutionStartedDetails: &executionStarted{
		Input: payload(&input), ExecutionTimeout: s.TimeoutSeconds}})
}

func (x *Execution) add(o *Operation) {
	x.operations = append(x.operations, o)
	x.byID[o.ID] = o
	x.touch(o)
}

// touch records that an operation changed.
func (x *Execution) touch(o *Operation) {
	x.changes++
	o.touched = x.changes
}

// changed records that an operation changed without the function's knowledge.
func (x *Execution) changed(o *Operation) {
	x.touch(o)
	x.external = x.changes
}

func (x *Execution) invoke(c *Invoke, now time.Time) {
	x.updated = nil
	if x.invocation > 0 {
		x.updated = x.since(x.seen)
	}
	x.invocation++
	x.requestID, x.invoked, x.invoking = c.RequestID, now, true
	x.sequence, x.retryAt, x.last = 0, time.Time{}, answered{}
	x.seen = x.changes
}

// since returns the IDs of the operations that have changed after a change.
func (x *Execution) since(change int64) []string {
	var ids []string
	for _, o := range x.operations {
		if o.touched > change {
			ids = append(ids, o.ID)
		}
	}
	return ids
}

// returned ends an invocation.
func (x *Execution) returned(l *log, r *Return) {
	if !x.invoking || r.RequestID != x.requestID {
		return // lost
	}
	x.invoking = false
	out, bad := outputOf(r)
	if bad == nil && len(text(out.Result)) > MaxFinal {
		bad = NewError(InvalidParameterValue, tooLong(TypeExecution+" output", MaxFinal).Message)
	}
	if bad == nil && r.Error == nil && !r.Throttled && out.Status == Pending && x.outcome == nil && !x.canSuspend() {
		bad = NewError(InvalidParameterValue, "Cannot return PENDING status with no pending operations.")
	}
	if r.Throttled {
		x.again(l, r.Error)
		return
	}
	l.add(history.DurableInvocationCompleted, nil, &body{InvocationCompletedDetails: &invocationCompleted{
		StartTimestamp: Seconds(x.invoked), EndTimestamp: Seconds(l.now), RequestId: r.RequestID,
		Error: problem(r.Error)}})
	switch {
	case x.outcome != nil:
		x.end(l, x.outcome.Status, x.outcome.Result, x.outcome.Error)
	case r.Error != nil && !r.Fatal:
		x.again(l, r.Error)
	case r.Error != nil:
		x.end(l, Failed, nil, r.Error)
	case bad != nil:
		x.end(l, Failed, nil, bad)
	case out.Status == Pending:
		x.failures, x.failure, x.failedAt = 0, nil, time.Time{}
	case out.Status == Succeeded:
		x.end(l, Succeeded, out.Result, nil)
	default:
		x.end(l, Failed, nil, out.Error)
	}
}

// again waits before the next invocation, after one that failed with an error.
func (x *Execution) again(l *log, err *Error) {
	x.failures++
	x.failure, x.failedAt = err, l.now
	x.retryAt = l.now.Add(min(shortestBackoff<<min(x.failures-1, mostDoublings), longestBackoff))
}

// output is the response of a durable function.
type output struct {
	Status string
	Result *string
	Error  *Error
}

// outputOf parses the response of a function. The error is what the execution fails with if the response is none that
// a durable function may give.
func outputOf(r *Return) (out output, bad *Error) {
	if r.Error != nil || r.Throttled {
		return out, nil
	}
	if err := json.Unmarshal([]byte(r.Output), &out); err != nil || out.Status == "" {
		return out, NewError(InvalidParameterValue, "Invalid invocation output: it is not what AWS's durable execution SDK returns. "+
			"Wrap the handler with the SDK, as withDurableExecution does in JavaScript and durable_execution in Python.")
	}
	switch {
	case out.Status == Failed && out.Result != nil:
		return out, NewError(InvalidParameterValue, "Cannot provide a Result for FAILED status.")
	case out.Status == Succeeded && out.Error != nil:
		return out, NewError(InvalidParameterValue, "Cannot provide an Error for SUCCEEDED status.")
	case out.Status != Failed && out.Status != Succeeded && out.Status != Pending:
		return out, NewError(InvalidParameterValue, fmt.Sprintf(
			"Invalid Status in invocation output: %q; it must be SUCCEEDED, FAILED or PENDING.", out.Status))
	}
	return out, nil
}

// canSuspend reports whether something will happen without the function.
func (x *Execution) canSuspend() bool {
	return x.external > x.seen || slices.ContainsFunc(x.operations, func(o *Operation) bool {
		switch o.Type {
		case TypeStep:
			return o.Status == Pending
		case TypeWait, TypeCallback, TypeChainedInvoke:
			return o.Status == Started
		}
		return false
	})
}

// end ends the execution.
func (x *Execution) end(l *log, status string, result *string, err *Error) {
	x.status, x.ended, x.result, x.err, x.invoking = status, l.now, result, err, false
	b := ended(endings[TypeExecution][status], result, err)
	b.Id = x.start.ID
	l.add(endings[TypeExecution][status], nil, b)
}

// due ends the waits whose time has come, in the order of their times.
func (x *Execution) due(l *log) {
	for _, id := range l.held {
		if o := x.byID[id]; !o.Held {
			o.Held = true
			x.touch(o)
		}
	}
	for !x.Over() {
		var next *Operation
		at := x.deadline
		for _, o := range x.operations {
			if d := o.deadline(); !d.IsZero() && d.Before(at) && !slices.Contains(l.held, o.ID) {
				next, at = o, d
			}
		}
		if at.After(l.now) {
			return
		}
		if next == nil {
			x.end(l, TimedOut, nil, NewError("Execution.Timeout", "The durable execution timed out."))
			return
		}
		x.ring(l, next)
	}
}

// ring ends the wait of an operation.
func (x *Execution) ring(l *log, o *Operation) {
	switch o.Type {
	case TypeStep:
		o.Status, o.Next, o.Held = Ready, time.Time{}, false
		x.changed(o)
	case TypeWait:
		o.Status, o.End = Succeeded, l.now
		x.changed(o)
		l.add(history.DurableWaitSucceeded, o, &body{WaitSucceededDetails: &waitSucceeded{o.Wait}})
	case TypeCallback:
		err := NewError("Callback.Timeout", "Callback timed out")
		if !o.Silent.IsZero() && (o.Due.IsZero() || o.Silent.Before(o.Due)) {
			err = NewError("Callback.Heartbeat", "Callback timed out on heartbeat")
		}
		x.complete(l, o, &Outcome{Status: TimedOut, Error: err})
	}
}

// retry ends the wait of a STEP before its next attempt, or of the EXECUTION before its next invocation.
func (x *Execution) retry(l *log, r *Retry, again bool) error {
	o := x.byID[r.OperationID]
	if o != nil && o.Type == TypeExecution {
		if _, ok := x.Reinvocation(); !ok && !again {
			return invalid("The function does not wait to be invoked again after a failure.")
		}
		if !x.retryAt.IsZero() {
			x.retryAt = earlier(x.retryAt, l.now)
		}
		return nil
	}
	if o == nil || o.Type != TypeStep || o.Status != Pending {
		if again { // earlier versions stored these commands
			return nil
		}
		return invalid("No STEP with the ID " + r.OperationID + " waits for its next attempt.")
	}
	x.ring(l, o)
	return nil
}

// complete ends a CALLBACK or a CHAINED_INVOKE.
func (x *Execution) complete(l *log, o *Operation, c *Outcome) {
	o.Status, o.End, o.Result, o.Error = c.Status, l.now, c.Result, c.Error
	x.written += len(text(c.Result)) + c.Error.size()
	x.changed(o)
	l.end(o)
}

func closed() error {
	return &Refusal{CallbackClosed, "The callback has already been completed, or has timed out."}
}

// callback completes a callback or prolongs its heartbeat timeout.
func (x *Execution) callback(l *log, c *Callback) error {
	x.due(l)
	i := slices.IndexFunc(x.operations, func(o *Operation) bool {
		return o.Type == TypeCallback && o.CallbackID == c.ID
	})
	switch {
	case i < 0:
		return invalid("Invalid callback ID: the durable execution has no such callback.")
	case x.Over() || x.operations[i].Ended():
		return closed()
	case len(text(c.Result)) > MaxPayload:
		return tooLong("CALLBACK result", MaxPayload)
	case c.Error.size() > MaxPayload:
		return tooLong("CALLBACK error", MaxPayload)
	}
	o := x.operations[i]
	if c.Heartbeat {
		if o.Heartbeat > 0 {
			o.Silent = l.now.Add(time.Duration(o.Heartbeat) * time.Second)
		}
		return nil
	}
	x.complete(l, o, &c.Outcome)
	return nil
}

// chained ends a chained invoke.
func (x *Execution) chained(l *log, c *Outcome) {
	if o := x.byID[c.OperationID]; o != nil && o.Type == TypeChainedInvoke && !o.Ended() {
		x.complete(l, o, c)
	}
}

// The waits between invocations that fail: they double from shortestBackoff up to longestBackoff.
const (
	shortestBackoff = time.Second
	longestBackoff  = 5 * time.Minute
	mostDoublings   = 9
)
