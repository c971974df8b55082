package interpreter

import (
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"time"

	"stepback/asl/jsonvalue"
	"stepback/engine/history"
	"stepback/engine/plan"
)

// TaskCall is a task for the shell to carry out.
type TaskCall struct {
	Task *plan.Task
	// State is the name of the Task state, Attempt counts its runs from 0.
	State   string
	Attempt int64
	// Parameters is the JSON text sent to the resource; Value is its tree where that was at hand, null otherwise.
	Parameters string
	Value      jsonvalue.Value
	// Token is the task token of a token task or activity, empty otherwise.
	Token string
	// RoleARN is the role of the task's credentials, if it has any.
	RoleARN string
	// Timeout and Heartbeat are 0 when there is none.
	Timeout, Heartbeat time.Duration

	started    bool     // the …Started event is written
	submission *Payload // what the accepted call of a .sync or token task answered
}

func (x *Execution) runTask(t *thread) bool {
	s := t.state
	call := &TaskCall{Task: s.Task, State: s.Name, Attempt: t.retried}
	if s.Task.Target == plan.Activity || s.Task.Pattern == plan.WaitForTaskToken {
		call.Token = x.token()
	}
	if s.Task.Pattern == plan.WaitForTaskToken {
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
	call.Parameters = params.Text()
	if s.Parameters != nil {
		call.Value = params.Value()
	}
	if len(call.Parameters) > MaxPayload {
		return x.failed(t, tooLarge(s.Name))
	}
	x.schedule(t, call)
	return false
}

// schedule writes the task's events and asks the shell to carry it out. The clock of TimeoutSeconds starts with the …Started
// event; only an activity waits for that.
func (x *Execution) schedule(t *thread, call *TaskCall) {
	w := x.await(t, taskResult)
	w.task = call
	t.work = w.id
	x.writeScheduled(t, call)
	x.effect(Effect{Kind: InvokeTask, ID: w.id, Task: call})
	if call.Task.Target != plan.Activity {
		x.taskStarted(t, call, "")
	} else if call.Timeout > 0 {
		t.timeout = x.timer(t, taskTimeout, call.Timeout)
	}
}

func (x *Execution) taskStarted(t *thread, call *TaskCall, worker string) {
	call.started = true
	x.writeStarted(t, call, worker)
	if call.Timeout > 0 && t.timeout == 0 {
		t.timeout = x.timer(t, taskTimeout, call.Timeout)
	}
	if call.beats() {
		t.beat = call.Heartbeat
		t.heartbeat = x.timer(t, taskHeartbeat, call.Heartbeat)
	}
}

// beats reports whether the task has a worker that can send heartbeats at all.
func (c *TaskCall) beats() bool {
	return c.Heartbeat > 0 && (c.Task.Target == plan.Activity || c.Task.Pattern == plan.WaitForTaskToken)
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
	if v.Kind() != jsonvalue.Number || err != nil || i <= 0 {
		return 0, x.runtimeError(t, "The "+n.Field+"Path parameter does not reference a positive integer: "+n.Path.Text()+" == "+v.JSON())
	}
	return secondsOf(i), true
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
		return "", x.unexpected(t, c.Expression, "string", role)
	}
	return role.Text(), true
}

// token makes a task token that names the execution and cannot be guessed.
func (x *Execution) token() string {
	b := make([]byte, 0, len(x.info.ARN)+40)
	for range 4 {
		b = binary.BigEndian.AppendUint64(b, x.random.Uint64())
	}
	b = binary.BigEndian.AppendUint64(b, uint64(x.nextID+1))
	return base64.URLEncoding.EncodeToString(append(b, x.info.ARN...))
}

// taskEvent handles what is reported of a running task.
func (x *Execution) taskEvent(w *wait, e *Event) {
	t := w.thread
	switch e.Kind {
	case TaskStarted:
		if !w.task.started {
			x.taskStarted(t, w.task, e.Worker)
		}
	case TaskHeartbeat:
		if t.heartbeat != 0 {
			x.cancelTimer(&t.heartbeat)
			t.heartbeat = x.timer(t, taskHeartbeat, t.beat)
		}
	case TaskSubmitted:
		w.task.submission = e.Output
		x.writeTask(t, w.task, history.TaskSubmitted, e.Output.Text())
	case TaskSucceeded:
		x.taskSucceeded(t, e.Output)
	case TaskFailed:
		x.taskFailed(t, ended, e.Failure)
	case TaskStartFailed:
		x.taskFailed(t, startFailed, e.Failure)
	case TaskSubmitFailed:
		x.taskFailed(t, submitFailed, e.Failure)
	default:
	}
}

// endWork forgets the thread's task and its timers and returns the task, or nil when there was none. A task that is still
// running is cancelled.
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
	x.cancelTimer(&t.timeout)
	x.cancelTimer(&t.heartbeat)
	return w.task
}

func (x *Execution) taskSucceeded(t *thread, result *Payload) {
	call := t.endWork(x, false)
	output := result.Text()
	if len(output) > MaxPayload {
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
		x.writeTask(t, call, history.TaskSucceeded, output)
	} else {
		x.writeTask(t, call, succeededType(call.Task.Target), output)
	}
	x.complete(t, result, t.last)
}

func (x *Execution) taskFailed(t *thread, how outcome, f history.Failure) {
	call := t.endWork(x, false)
	x.taskEnded(t, call, how, f)
	x.failed(t, failure{Failure: f})
}

// goOn readies a thread that can run again.
func (x *Execution) goOn(t *thread, can bool) {
	if can {
		x.ready = append(x.ready, t)
	}
}
