package interpreter

import (
	"cmp"
	"strconv"
	"time"

	"stepback/engine/history"
	"stepback/engine/internal/plan"
	"stepback/jsonvalue"
)

// TaskCall is a task for the shell to run.
type TaskCall struct {
	Task *plan.Task
	// State is the name of the Task state. Attempt is the number of this run of the state, counted from 0.
	State   string
	Attempt int64
	// Parameters is the JSON text sent to the resource. Value is its parsed form if that was available, otherwise
	// null.
	Parameters string
	Value      jsonvalue.Value
	// Token is the task token. It is set for an activity task, and for a task that waits for a token or a job.
	Token string
	// RoleARN is the role of the task's credentials, if it has any.
	RoleARN string
	// Timeout and Heartbeat are 0 if there is no such limit.
	Timeout, Heartbeat time.Duration

	scheduled  bool                // the …Scheduled event has been written
	started    bool                // the …Started event has been written
	submission *jsonvalue.Document // the response to the accepted call of a .sync or token task
	early      *Signal             // see overtakes
}

func (x *Execution) runTask(t *thread) bool {
	s := t.state
	call := &TaskCall{Task: s.Task, State: s.Name, Attempt: t.retried}
	if s.Task.Tokens() {
		call.Token = x.token(x.nextID + 1)
	}
	if s.Task.Target != plan.Activity { // workers of an activity get it from GetActivityTask
		t.env.withToken(call.Token)
	}
	params, ok := x.effectiveInput(t)
	if t.env.token != "" {
		t.env.withToken("")
	}
	if !ok {
		return false
	}
	t.env.over(t.input)
	if call.Timeout, ok = x.limit(t, s.Task.Timeout); !ok {
		return false
	}
	if call.Heartbeat, ok = x.limit(t, s.Task.Heartbeat); !ok {
		return false
	}
	if call.RoleARN, ok = x.credentials(t); !ok {
		return false
	}
	if !params.Fits(MaxPayload) {
		return x.failed(t, tooLarge(s.Name))
	}
	call.Parameters = params.Text()
	if s.Parameters != nil {
		call.Value = params.Value()
	}
	if x.unusable != nil && s.Task.Target == plan.Integration {
		if why := x.unusable(call); why != "" {
			return x.runtimeError(t, why)
		}
	}
	x.schedule(t, call)
	return false
}

// schedule writes the task's events and asks the shell to run the task. For an activity task, the events are
// written later, because only the shell knows whether the activity exists and when a worker takes the task.
func (x *Execution) schedule(t *thread, call *TaskCall) {
	w := x.await(t, taskResult)
	w.task = call
	t.work = w.id
	activity := call.Task.Target == plan.Activity
	if !activity {
		x.taskScheduled(t, call)
	}
	x.effect(Effect{Kind: InvokeTask, ID: w.id, Task: call})
	if !activity {
		x.taskStarted(t, call, "")
	}
}

func (x *Execution) taskScheduled(t *thread, call *TaskCall) {
	call.scheduled = true
	x.writeScheduled(t, call)
}

// taskStarted writes the task's start, from which TimeoutSeconds counts. HeartbeatSeconds counts from the moment
// when there is a worker. That is the start of an activity task, or the moment when the request with the token was
// accepted.
func (x *Execution) taskStarted(t *thread, call *TaskCall, worker string) {
	call.started = true
	x.writeStarted(t, call, worker)
	if call.Timeout > 0 {
		t.timer = x.timer(t, taskTimeout, call.Timeout)
	}
	if call.Task.Target == plan.Activity {
		x.beat(t, call)
	}
}

// beat restarts the timer for the next heartbeat.
func (x *Execution) beat(t *thread, call *TaskCall) {
	if call.Heartbeat > 0 {
		x.cancelTimer(&t.heartbeat)
		t.heartbeat = x.timer(t, taskHeartbeat, call.Heartbeat)
	}
}

// limit evaluates TimeoutSeconds or HeartbeatSeconds.
func (x *Execution) limit(t *thread, n plan.Number) (time.Duration, bool) {
	if n.Expression != nil {
		i, ok := x.whole(t, n, 1)
		return secondsOf(i), ok
	}
	if n.Path == nil {
		return seconds(n.Literal), true
	}
	v, err := t.env.Lookup(n.Path)
	if err != nil {
		return 0, x.expressionError(t, err, n.Field+"Path", t.input)
	}
	i, err := strconv.ParseInt(v.Text(), 10, 64)
	var problem string
	switch {
	case v.Kind() != jsonvalue.Number || err != nil:
		problem = "cannot be parsed as a long value: "
	case i < 0:
		problem = "references a negative value: "
	case i == 0:
		problem = "does not reference a positive value: "
	default:
		return secondsOf(i), true
	}
	return 0, x.runtimeError(t, "The "+n.Field+"Path parameter "+problem+n.Path.Text()+" == "+v.JSON())
}

func (x *Execution) credentials(t *thread) (string, bool) {
	c := t.state.Task.Credentials
	if c == nil {
		return "", true
	}
	v, err := t.env.eval(c)
	if err != nil {
		return "", x.expressionError(t, err, "Credentials", t.input)
	}
	role, _ := v.Get("RoleArn")
	if role.Kind() != jsonvalue.String && c.Expression != nil {
		return "", x.failUnexpectedType(t, cmp.Or(c.Expression.Member("RoleArn"), c.Expression), "string", role)
	}
	return role.Text(), true
}

// taskEvent handles a report about a running task.
func (x *Execution) taskEvent(w *wait, e *Signal) {
	t := w.thread
	if e.ByToken && x.keepEarlyReport(w, e) {
		return
	}
	switch e.Kind {
	case TaskScheduled:
		if !w.task.scheduled {
			x.taskScheduled(t, w.task)
		}
	case TaskStarted:
		if w.task.scheduled && !w.task.started {
			x.taskStarted(t, w.task, e.Worker)
		}
	case TaskHeartbeat:
		if t.heartbeat != 0 {
			x.beat(t, w.task)
		}
	case TaskSubmitted:
		w.task.submission = e.Output
		x.writeTask(t, w.task, history.TaskSubmitted, e.Output.Text())
		if w.task.early != nil {
			x.taskEvent(w, w.task.early)
		} else if w.task.Task.Pattern == plan.WaitForTaskToken {
			x.beat(t, w.task)
		}
	case TaskSucceeded:
		x.taskSucceeded(t, e.Output)
	case TaskFailed:
		x.taskFailed(t, ended, e.Failure)
	case TaskStartFailed:
		x.taskFailed(t, startFailed, e.Failure)
	case TaskSubmitFailed:
		if w.task.early != nil {
			x.taskEvent(w, w.task.early)
		} else {
			x.taskFailed(t, submitFailed, e.Failure)
		}
	default:
	}
}

// endWork removes the thread's task and its timers, and returns the task, or nil if there was none. If running is
// true, the task is still running and is cancelled.
func (t *thread) endWork(x *Execution, running bool) *TaskCall {
	w := x.waits[t.work]
	if w == nil {
		return nil
	}
	delete(x.waits, t.work)
	if running {
		x.effect(Effect{Kind: CancelTask, ID: t.work})
	}
	t.work = 0
	x.cancelTimer(&t.timer)
	x.cancelTimer(&t.heartbeat)
	return w.task
}

func (x *Execution) taskSucceeded(t *thread, result *jsonvalue.Document) {
	call := t.endWork(x, false)
	if !result.Fits(MaxPayload) {
		name := t.state.Task.Resource
		if call.Task.Target == plan.Integration {
			name = call.Task.Service
		}
		f := tooLarge(name)
		x.taskEnded(t, call, ended, f.Failure)
		x.failed(t, f)
		return
	}
	if call.Task.Target == plan.Integration {
		x.writeTask(t, call, history.TaskSucceeded, result.Text())
	} else {
		x.writeTask(t, call, succeededType(call.Task.Target), result.Text())
	}
	x.complete(t, result, t.last)
}

// taskFailed fails the thread's task. If the task was not scheduled, it writes no task event.
func (x *Execution) taskFailed(t *thread, how outcome, f history.Failure) {
	call := t.endWork(x, false)
	if !call.scheduled {
		x.readyIf(t, x.runtimeError(t, f.Cause))
		return
	}
	x.taskEnded(t, call, how, f)
	x.failed(t, failure{Failure: f})
}

// readyIf makes a thread ready if it can run again.
func (x *Execution) readyIf(t *thread, can bool) {
	if can {
		x.ready = append(x.ready, t)
	}
}
