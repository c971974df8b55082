package interpreter

import (
	"cmp"
	"slices"

	"stepback/asl"
	"stepback/engine/history"
	"stepback/jsonvalue"
)

// maxMapRunRedrives is the most redrives of a Map Run.
const maxMapRunRedrives = 1000

// redrive resumes an execution that has ended without success. It repeats the states that failed or were aborted,
// with the same input. All their retries are available again, and their time limits start again. States that
// succeeded are not repeated. This follows the redrive behaviour of individual states in the AWS documentation.
func (x *Execution) redrive() {
	x.status, x.failure = history.Running, history.Failure{}
	x.redrives++
	x.redriven = x.now
	x.closed += x.now.Sub(x.stopped)
	x.aboutRun = jsonvalue.Value{}
	id := x.emit(history.Event{Type: history.ExecutionRedriven, Previous: x.lastID,
		More: &history.Details{RedriveCount: x.redrives}})
	x.limitTime()
	x.again(x.root, id)
}

// Redrives returns the number of redrives of the execution.
func (x *Execution) Redrives() int64 { return x.redrives }

// again resumes a thread in the state in which it was when the execution ended. If that state had not been entered,
// it is entered; a Fail state is entered again. Any other state repeats its work without a second entry.
func (x *Execution) again(t *thread, previous int64) {
	f := t.children
	if f == nil {
		f = t.stopped
	}
	call := t.mapRun
	t.last, t.before, t.gone, t.catching = previous, previous, false, false
	t.retries, t.retried = nil, 0
	t.work, t.timer, t.heartbeat, t.children, t.stopped = 0, 0, 0, nil, nil
	t.env = env{x: x, t: t}
	switch {
	case t.entryID == 0 || t.state.Type == asl.Fail:
		x.ready = append(x.ready, t)
	case call != nil:
		x.redriveMapRun(t, call)
	case f != nil && f.left > 0:
		f.again(x, previous)
	default:
		x.resume(t)
	}
}

// again resumes the branches or iterations that were not complete, and starts the iterations that had not been
// started.
func (f *fan) again(x *Execution, previous int64) {
	unfinished := f.unfinished
	f.unfinished = nil
	for _, t := range f.threads {
		if t != nil {
			unfinished = append(unfinished, t)
		}
	}
	slices.SortFunc(unfinished, func(a, b *thread) int { return cmp.Compare(a.index, b.index) })
	f.owner.children = f
	for _, t := range unfinished {
		f.threads[t.index], t.gone = t, false
	}
	for _, t := range unfinished {
		if f.owner.children == f { // it may have failed again in the meantime
			x.again(t, previous)
		}
	}
	for n := len(unfinished); f.items != nil && n < f.limit && f.next < f.items.len(); n++ {
		f.iterate(x, previous)
	}
}

// redriveMapRun makes the shell resume a Map Run. It runs the child executions that did not succeed again, and
// starts child executions for the items that have none.
func (x *Execution) redriveMapRun(t *thread, before *MapRunCall) {
	call := *before // a copy: the shell may still read the original
	call.Redrive++
	if call.Redrive > maxMapRunRedrives {
		x.runtimeError(t, "The Map Run has been redriven 1000 times, which is the limit.")
		return
	}
	t.last = x.emit(history.Event{Type: history.MapRunRedriven, Previous: t.last, More: &history.Details{
		MapRunARN: call.ARN, RedriveCount: call.Redrive,
	}})
	t.mapRunStarted = t.last
	x.awaitMapRun(t, &call)
}

// awaitMapRun passes a Map Run to the shell.
func (x *Execution) awaitMapRun(t *thread, call *MapRunCall) {
	t.children, t.mapRun = &fan{owner: t}, call
	w := x.await(t, mapRunResult)
	w.mapRun = call
	t.work = w.id
	x.effect(Effect{Kind: StartMapRun, ID: w.id, MapRun: call})
}
