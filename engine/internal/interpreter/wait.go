package interpreter

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"stepback/engine/history"
	"stepback/engine/internal/plan"
	"stepback/jsonvalue"
)

// wait is something an execution is waiting for: a timer, a task or a Map Run, each with its own ID.
type wait struct {
	id     int64
	thread *thread
	kind   waitKind
	task   *TaskCall
	mapRun *MapRunCall
	at     time.Time // when the timer fires
	retry  *Retry    // the retry that a retryDelay delays
}

type waitKind uint8

const (
	machineTimeout waitKind = iota
	taskTimeout
	taskHeartbeat
	retryDelay
	waitState
	taskResult
	mapRunResult
)

// open returns the IDs of all waits, in the order in which they started.
func (x *Execution) open() []int64 {
	if len(x.waits) == 0 {
		return nil
	}
	ids := slices.AppendSeq(make([]int64, 0, len(x.waits)), maps.Keys(x.waits))
	slices.Sort(ids)
	return ids
}

func (x *Execution) await(t *thread, k waitKind) *wait {
	x.nextID++
	w := &wait{id: x.nextID, thread: t, kind: k}
	x.addWait(w)
	return w
}

func (x *Execution) addWait(w *wait) {
	if x.waits == nil {
		x.waits = map[int64]*wait{}
	}
	x.waits[w.id] = w
}

// timer starts a timer for d and returns its ID.
func (x *Execution) timer(t *thread, k waitKind, d time.Duration) int64 {
	return x.timerFor(t, k, d, nil)
}

// timerFor is like timer, for the delay of a retry.
func (x *Execution) timerFor(t *thread, k waitKind, d time.Duration, retry *Retry) int64 {
	w := x.await(t, k)
	w.at, w.retry = x.now.Add(d), retry
	if retry != nil {
		retry.ID = w.id
	}
	x.effect(Effect{Kind: SetTimer, ID: w.id, At: w.at, Retry: retry, Ends: k == machineTimeout})
	return w.id
}

// cancel removes a wait and requests its cancellation from the shell.
func (x *Execution) cancel(id int64, w *wait) {
	delete(x.waits, id)
	switch w.kind {
	case taskResult:
		x.effect(Effect{Kind: CancelTask, ID: id})
	case mapRunResult:
		x.effect(Effect{Kind: CancelMapRun, ID: id})
	default:
		x.effect(Effect{Kind: CancelTimer, ID: id})
	}
}

// cancelTimer cancels the timer at *id, if any, and clears it.
func (x *Execution) cancelTimer(id *int64) {
	if w := x.waits[*id]; w != nil {
		x.cancel(*id, w)
	}
	*id = 0
}

// happened passes a signal to the handler for this wait.
func (w *wait) happened(x *Execution, e *Signal) {
	t := w.thread
	switch {
	case e.Kind == TimerFired && w.kind < taskResult:
		delete(x.waits, w.id)
		if w.at.After(x.now) { // the retry is started early, on request
			x.effect(Effect{Kind: CancelTimer, ID: w.id})
		}
		x.rang(w, t)
	case w.kind == taskResult:
		x.taskEvent(w, e)
	case w.kind == mapRunResult && (e.Kind == MapRunSucceeded || e.Kind == MapRunFailed):
		delete(x.waits, w.id)
		t.work = 0
		x.mapRunEnded(t, e)
	}
}

func (x *Execution) rang(w *wait, t *thread) {
	switch w.kind {
	case machineTimeout:
		x.timeOut()
	case taskTimeout:
		t.timer = 0
		x.taskTimedOut(t, false)
	case taskHeartbeat:
		t.heartbeat = 0
		x.taskTimedOut(t, true)
	case retryDelay:
		t.timer = 0
		x.resume(t)
	case waitState:
		t.timer = 0
		x.complete(t, t.pending, t.last)
	case taskResult, mapRunResult:
	}
}

// resume runs the thread's state again after a retry's delay.
func (x *Execution) resume(t *thread) {
	if x.run(t) {
		x.ready = append(x.ready, t)
	}
}

// complete ends the work of a thread's state and makes the thread ready to continue.
func (x *Execution) complete(t *thread, result *jsonvalue.Document, previous int64) {
	if x.finishState(t, result, previous) {
		x.ready = append(x.ready, t)
	}
}

// taskTimedOut fails a task because of a timeout. Within a Parallel or Map state, all tasks whose time is up at
// this instant are first recorded as timed out. Only then is the failure of the first one handled, which may abort
// the others.
func (x *Execution) taskTimedOut(t *thread, heartbeat bool) {
	late := []lateTask{{thread: t, heartbeat: heartbeat}}
	if t.fan != nil {
		late = append(late, x.overdue(t)...)
	}
	written := late[:0]
	for _, l := range late {
		if task := l.thread.endWork(x, true); task != nil {
			x.taskEnded(l.thread, task, timedOut, history.Named(plan.ErrTimeout))
			written = append(written, l)
		}
	}
	for _, l := range written {
		x.failed(l.thread, failure{Failure: history.Named(plan.ErrTimeout), heartbeat: l.heartbeat})
	}
}

// lateTask is a thread whose task has timed out.
type lateTask struct {
	thread    *thread
	heartbeat bool // the limit is HeartbeatSeconds
	id        int64
}

// overdue returns the tasks whose timers are due but have not fired, except those of thread but.
func (x *Execution) overdue(but *thread) []lateTask {
	var late []lateTask
	for id, w := range x.waits {
		if (w.kind == taskTimeout || w.kind == taskHeartbeat) && w.thread != but && !w.at.After(x.now) {
			late = append(late, lateTask{w.thread, w.kind == taskHeartbeat, id})
		}
	}
	slices.SortFunc(late, func(a, b lateTask) int { return cmp.Compare(a.id, b.id) })
	return late
}
