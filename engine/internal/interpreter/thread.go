package interpreter

import (
	"time"

	"stepback/asl"
	"stepback/asl/jsonpath"
	"stepback/engine/history"
	"stepback/engine/internal/plan"
	"stepback/jsonvalue"
)

// thread is one flow of control: the state machine itself, a branch of a Parallel state or an iteration of an inline
// Map.
type thread struct {
	fan   *fan // whose branch or iteration this thread is; nil at the top
	index int

	state   *plan.State
	input   *jsonvalue.Document // raw input of the state
	last    int64               // the event that the next one follows from
	vars    *variables
	gone    bool // aborted
	entered time.Time
	entryID int64 // 0 between states
	before  int64 // the event that the state's entry followed from

	retries []int64 // for each retrier of the current state
	retried int64   // all retries of the current state

	catching bool // a catcher is building its output: an error now fails the scope

	// The IDs of the state's waits in Execution.waits, or 0. timer is the ID for a Wait state, a retrier's delay or
	// a task's TimeoutSeconds; a state has only one of these at a time.
	work, timer, heartbeat int64
	children               *fan
	pending                *jsonvalue.Document // a Wait state's effective input
	mapInput               *jsonvalue.Document // a Map state's effective input
	mapRun                 *MapRunCall
	mapRunStarted          int64 // the MapRunStarted or MapRunRedriven event
	stopped                *fan  // branches of a failed or aborted state, from which a redrive resumes

	env env
}

// enter writes the entry of the thread's current state and runs the state. It reports whether the thread can
// continue at once.
func (x *Execution) enter(t *thread) bool {
	s := t.state
	t.entered = x.now
	t.retries, t.retried = nil, 0
	t.before = t.last
	t.entryID = x.emit(history.Event{Type: s.Entered, Previous: t.last, Name: s.Name, Data: t.input.Text()})
	t.last = t.entryID
	return x.run(t)
}

// run does the work of the current state, on entry and again for each retry.
func (x *Execution) run(t *thread) bool {
	if x.status != history.Running {
		return false
	}
	t.env = env{x: x, t: t}
	if x.trial != nil && x.try(t) {
		return false
	}
	t.stopped, t.mapRun = nil, nil
	switch t.state.Type {
	case asl.Pass:
		return x.runPass(t)
	case asl.Choice:
		return x.runChoice(t)
	case asl.Succeed:
		return x.runSucceed(t)
	case asl.Fail:
		return x.runFail(t)
	case asl.Wait:
		return x.runWait(t)
	case asl.Task:
		return x.runTask(t)
	case asl.Parallel:
		return x.runParallel(t)
	case asl.Map:
		return x.runMap(t)
	default:
		return x.runtimeError(t, "The state has an unknown type.")
	}
}

// finishState applies ResultSelector, ResultPath, OutputPath and Assign to a state's result, and exits the state.
// In JSONata, it applies Output and Assign.
func (x *Execution) finishState(t *thread, result *jsonvalue.Document, previous int64) bool {
	if x.status != history.Running {
		return false
	}
	s := t.state
	if s.Language == asl.JSONata {
		return x.finishQuery(t, result, previous)
	}
	t.last = previous // a failure here follows from the state's work, like its exit
	raw := result
	if s.Task != nil {
		x.trace(TaskResult, result)
	}
	if s.ResultSelector != nil {
		t.env.over(result)
		v, err := t.env.eval(s.ResultSelector)
		if err != nil {
			return x.expressionError(t, err, "ResultSelector", result)
		}
		result = jsonvalue.ValueDocument(v)
	}
	x.traceResult(t, AfterResultSelector, result)
	out, ok := x.place(t, s.ResultPath, result)
	if !ok {
		return false
	}
	x.traceResult(t, AfterResultPath, out)
	if out, ok = x.selectPayload(t, s.OutputPath, out, "OutputPath"); !ok {
		return false
	}
	assigned, ok := x.assign(t, s.Assign, raw)
	if !ok {
		return false
	}
	return x.exit(t, out, s.Next, previous, assigned)
}

// exit writes the state's exit and moves the thread to the next state, or ends it.
func (x *Execution) exit(t *thread, out *jsonvalue.Document, next *plan.State, previous int64,
	assigned []history.Assignment) bool {
	s := t.state
	if !out.Fits(MaxPayload) {
		return x.failed(t, tooLarge(s.Name))
	}
	e := history.Event{Type: s.Exited, Previous: previous, Name: s.Name, Data: out.Text()}
	if assigned != nil {
		e.More = &history.Details{Assigned: assigned}
	}
	t.last = x.emit(e)
	next = x.leaving(t, next)
	t.input, t.state, t.entryID, t.catching = out, next, 0, false
	if next != nil {
		return true
	}
	x.ended(t)
	return false
}

// ended reports the end of a thread to its fan. If the thread has none, it ends the execution.
func (x *Execution) ended(t *thread) {
	if x.status != history.Running {
		return
	}
	if t.fan == nil {
		x.succeed(t)
		return
	}
	t.fan.succeeded(x, t)
}

// place inserts a result into the raw input according to ResultPath.
func (x *Execution) place(t *thread, p plan.Placement, result *jsonvalue.Document) (*jsonvalue.Document, bool) {
	switch {
	case p.Discard:
		return t.input, true
	case p.At == nil:
		return result, true
	}
	v, err := p.At.Set(t.input.Value(), result.Value())
	if err != nil {
		cause := x.described(t, "Unable to apply ReferencePath "+p.At.Text()+" to input "+t.input.Text())
		return nil, x.failed(t, failure{Failure: history.NewFailure(plan.ErrResultPathMatchFailure, cause)})
	}
	return jsonvalue.ValueDocument(v), true
}

// pathOverNull is the cause of a failure because a path was applied to null. Even the path $ fails the state.
const pathOverNull = "Unable to apply Path transformation to null or empty input."

// selectPayload applies InputPath or OutputPath.
func (x *Execution) selectPayload(t *thread, s plan.Selector, p *jsonvalue.Document, field string) (
	*jsonvalue.Document, bool,
) {
	switch {
	case s.Identity():
		return p, true
	case s.Null:
		return jsonvalue.TextDocument("{}"), true
	}
	if s.Path.Root() == jsonpath.Input && p.IsNull() {
		return nil, x.runtimeError(t, pathOverNull)
	}
	t.env.over(p)
	v, err := t.env.Lookup(s.Path)
	if err != nil {
		return nil, x.expressionError(t, err, field, p)
	}
	return jsonvalue.ValueDocument(v), true
}

// assign evaluates Assign against a result and sets the variables. All of its expressions see the old values of the
// variables.
func (x *Execution) assign(t *thread, a *plan.Payload, result *jsonvalue.Document) ([]history.Assignment, bool) {
	if a == nil {
		return nil, true
	}
	t.env.over(result)
	v, err := t.env.eval(a)
	if err != nil {
		return nil, x.expressionError(t, err, "Assign", result)
	}
	assigned, ok := t.vars.set(v)
	if !ok {
		return nil, x.failed(t, failure{Failure: history.NewFailure(plan.ErrDataLimitExceeded,
			x.described(t, "The size of the assigned variables exceeds the limit."))})
	}
	return assigned, true
}

// described prefixes a message with the state it refers to, as AWS does.
func (x *Execution) described(t *thread, message string) string {
	if x.trial != nil {
		return message
	}
	return "An error occurred while executing the state '" + t.state.Name + "' (entered at the event id #" +
		itoa(t.entryID) + "). " + message
}

// runtimeError fails the thread with States.Runtime, which cannot be retried or caught.
func (x *Execution) runtimeError(t *thread, message string) bool {
	return x.failed(t, failure{Failure: history.NewFailure(plan.ErrRuntime, x.described(t, message))})
}

// variables holds the variables of one scope.
type variables struct {
	outer  *variables
	values map[string]jsonvalue.Value
	size   int
}
