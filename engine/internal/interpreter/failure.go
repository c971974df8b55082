package interpreter

import (
	"errors"
	"time"

	"stepback/asl"
	"stepback/asl/expression"
	"stepback/asl/jsonpath"
	"stepback/asl/template"
	"stepback/engine/history"
	"stepback/engine/internal/plan"
	"stepback/jsonvalue"
)

// longestWait limits a single delay, so that its end is a representable time.
const longestWait = 100 * 365 * 24 * time.Hour

// failure is an error that Retry and Catch are to handle.
type failure struct {
	history.Failure
	heartbeat bool // a States.Timeout caused by a missed heartbeat
}

func tooLarge(what string) failure {
	return failure{Failure: history.NewFailure(plan.ErrDataLimitExceeded,
		"The state/task '"+what+"' returned a result with a size exceeding the maximum number of bytes service limit.")}
}

// failed handles the failure of a thread's current state: first Retry, then Catch, then the end of the scope. If the
// failure is caught, the thread becomes ready. It always returns false, so that callers can stop what they were
// doing.
func (x *Execution) failed(t *thread, f failure) bool {
	if x.status != history.Running || t.gone {
		return false
	}
	if !t.catching && x.retry(t, f) {
		return false
	}
	if t.children != nil {
		if f.Name != plan.ErrRuntime || t.state.Map != nil && t.state.Map.Distributed {
			t.children.writeFailed(x)
		}
		if f.Name != plan.ErrDataLimitExceeded { // a redrive then repeats all of the state's work
			t.stopped = t.children
		}
		t.children = nil
	}
	for i := range t.state.Catch {
		c := &t.state.Catch[i]
		if !t.catching && c.Matches(f.Name, f.heartbeat) {
			x.traceCatcher(i, f)
			x.readyIf(t, x.caught(t, c, f))
			return false
		}
	}
	x.scopeFailed(t, f)
	return false
}

// retry schedules another run of the state if the first retrier that matches the error has attempts left.
func (x *Execution) retry(t *thread, f failure) bool {
	for i := range t.state.Retry {
		r := &t.state.Retry[i]
		if !r.Matches(f.Name, f.heartbeat) {
			continue
		}
		x.traceRetrier(i)
		if t.retries == nil {
			t.retries = make([]int64, len(t.state.Retry))
		}
		if t.retries[i] >= int64(r.Policy.MaxAttempts) {
			return false
		}
		t.retries[i]++
		t.retried++
		t.children = nil
		delay := min(r.Policy.Delay(int(t.retries[i]), &x.random), longestWait)
		if x.retriable(t, f, delay) {
			return true
		}
		t.timer = x.timerFor(t, retryDelay, delay, x.retryOf(t, i, f, delay))
		return true
	}
	return false
}

// retryOf describes a retry whose delay is about to begin.
func (x *Execution) retryOf(t *thread, retrier int, f failure, delay time.Duration) *Retry {
	policy, used := t.state.Retry[retrier].Policy, t.retries[retrier]
	return &Retry{
		State: t.state.Name, Error: f.Name, Cause: f.Cause, Attempt: t.retried + 1,
		LastAttempt: t.retried + 1 + int64(policy.MaxAttempts) - used, Failed: x.now, Next: x.now.Add(delay),
		policy: policy, used: used,
	}
}

// caught moves the thread to the state that a catcher names. OutputPath does not apply. An error in the catcher
// itself, such as a ResultPath that does not fit the input, is neither retried nor caught.
func (x *Execution) caught(t *thread, c *plan.Catcher, f failure) bool {
	errorOutput := jsonvalue.ValueDocument(f.output())
	t.catching = true
	if t.state.Language == asl.JSONata {
		t.env.result, t.env.errorOutput = nil, errorOutput
		return x.leave(t, errorOutput, c.Output, c.Assign, c.Next)
	}
	out, ok := x.place(t, c.ResultPath, errorOutput)
	if !ok {
		return false
	}
	assigned, ok := x.assign(t, c.Assign, errorOutput)
	if !ok {
		return false
	}
	return x.exit(t, out, c.Next, t.last, assigned)
}

// output returns the Error Output that a catcher passes on. A timeout has no cause; its cause becomes an empty
// text. A name or cause that a worker omitted becomes null.
func (f failure) output() jsonvalue.Value {
	b := jsonvalue.NewObject(2)
	name, cause := jsonvalue.Value{}, jsonvalue.Value{}
	if f.HasName() {
		name = jsonvalue.OfString(f.Name)
	}
	if f.HasCause() || f.Name == plan.ErrTimeout {
		cause = jsonvalue.OfString(f.Cause)
	}
	b.Set("Error", name)
	b.Set("Cause", cause)
	return b.Value()
}

// scopeFailed ends the scope in which a thread runs. States.Runtime ends the execution from any depth. In that
// case, as in the service, no events are written for the surrounding Parallel and Map states, nor for threads that
// run concurrently.
func (x *Execution) scopeFailed(t *thread, f failure) {
	if t.fan == nil || f.Name == plan.ErrRuntime {
		x.fail(t.last, f.Failure)
		return
	}
	t.fan.failedBy(x, t, f)
}

// expressionError fails a state because a path, template, intrinsic call or expression could not be evaluated.
func (x *Execution) expressionError(t *thread, err error, field string, input *jsonvalue.Document) bool {
	var evaluation *expression.Error
	if errors.As(err, &evaluation) {
		return x.evaluationFailed(t, evaluation.Field, evaluation.Error())
	}
	return x.failed(t, failure{Failure: x.expressionFailure(t, err, field, input)})
}

// expressionFailure returns the error name and cause for the error of a path, template, intrinsic call or expression.
func (x *Execution) expressionFailure(t *thread, err error, field string, input *jsonvalue.Document) history.Failure {
	var evaluation *expression.Error
	var missing *template.PathError
	var call *template.CallError
	var lookup *lookupError
	name, cause := plan.ErrRuntime, field+": "+err.Error()
	switch {
	case errors.As(err, &evaluation):
		name, cause = plan.ErrQueryEvaluation, evaluation.Error()
	case errors.As(err, &missing) && missing.Call != "":
		cause = functionError(missing.Call) + "The JsonPath argument for the field '" + missing.Path +
			"' could not be found in the input '" + x.searched(t, missing, input) + "'"
	case errors.As(err, &missing):
		cause = "The JSONPath '" + missing.Path + "' specified for the field '" + missing.Field +
			"' could not be found in the input '" + x.searched(t, missing, input) + "'"
	case errors.As(err, &call):
		name, cause = plan.ErrIntrinsicFailure, functionError(call.Call)+"Invalid arguments in "+call.Err.Function
	case errors.As(err, &lookup):
		cause = "Invalid path '" + lookup.path + "' : " + lookup.Error()
	}
	return history.NewFailure(name, x.described(t, cause))
}

// functionError returns the prefix of the cause for a failed intrinsic call. It has the service's exact wording.
func functionError(call string) string {
	return "The function '" + call + "' had the following error: "
}

// searched returns the text of the document in which a path was not found.
func (x *Execution) searched(t *thread, missing *template.PathError, input *jsonvalue.Document) string {
	if missing.Root == jsonpath.Context {
		return t.env.context().JSON()
	}
	return input.Text()
}
