package interpreter

import (
	"stepback/asl"
	"stepback/engine/history"
	"stepback/engine/internal/plan"
	"stepback/jsonvalue"
)

// fan is the set of threads that a Parallel or inline Map state runs.
type fan struct {
	owner   *thread
	started int64 // the …StateStarted event
	// last is the event that precedes the end of the state.
	last    int64
	threads []*thread // by index; nil before it starts and after it ends
	results []*jsonvalue.Document
	left    int // number of threads that have not succeeded yet

	unfinished []*thread // threads that failed or were aborted, for a redrive

	// Used only for an inline Map.
	items *mapItems
	next  int // the iteration to start next
	limit int // the most concurrent iterations
}

func (x *Execution) runParallel(t *thread) bool {
	in, ok := x.effectiveInput(t)
	if !ok {
		return false
	}
	s := t.state
	if s.Parameters != nil && !in.Fits(MaxPayload) {
		return x.failed(t, tooLarge(s.Name))
	}
	f := &fan{
		owner: t, left: len(s.Branches), threads: make([]*thread, len(s.Branches)),
		results: make([]*jsonvalue.Document, len(s.Branches)),
	}
	f.started = x.emit(history.Event{Type: history.ParallelStateStarted, Previous: t.last})
	t.children = f
	for i, b := range s.Branches {
		f.launch(x, i, b, in, f.started)
	}
	return false
}

// launch makes one branch or iteration ready.
func (f *fan) launch(x *Execution, index int, g *plan.Graph, in *jsonvalue.Document, previous int64) {
	t := &thread{fan: f, index: index, state: g.Start, input: in, last: previous, vars: &variables{outer: f.owner.vars}}
	f.threads[index] = t
	x.ready = append(x.ready, t)
}

// succeeded stores the result of one thread. If it is the last thread, succeeded ends the state.
func (f *fan) succeeded(x *Execution, t *thread) {
	f.results[t.index] = t.input
	f.threads[t.index] = nil
	f.left--
	f.last = t.last
	if f.items != nil {
		f.last = x.emit(history.Event{Type: history.MapIterationSucceeded, Previous: t.last, Name: f.owner.state.Name,
			More: iteration(t.index)})
		if f.next < f.items.len() {
			f.iterate(x, t.last)
		}
	}
	if f.left == 0 {
		f.finish(x)
	}
}

func (f *fan) finish(x *Execution) {
	t := f.owner
	typ := history.ParallelStateSucceeded
	if f.items != nil {
		typ = history.MapStateSucceeded
	}
	x.emit(history.Event{Type: typ, Previous: f.last})
	t.children = nil
	x.complete(t, join(f.results), f.last)
}

// failedBy ends the state because one of its threads failed. The other threads are aborted, and the owner's Retry
// and Catch decide what happens next. All events written here follow from the event that failed the thread. A Task
// that failed also counts as aborted, because its state is never exited.
func (f *fan) failedBy(x *Execution, t *thread, err failure) {
	cause := t.last
	f.threads[t.index] = nil
	f.unfinished = append(f.unfinished, t)
	if f.items != nil {
		x.emit(history.Event{Type: history.MapIterationFailed, Previous: cause, Name: f.owner.state.Name,
			More: iteration(t.index)})
	}
	if t.state.Type == asl.Task {
		x.emit(history.Event{Type: history.TaskStateAborted, Previous: cause})
	}
	f.abort(x, cause)
	f.owner.last = cause
	x.failed(f.owner, err)
}

// abort stops all threads that are still running.
func (f *fan) abort(x *Execution, cause int64) {
	for i, t := range f.threads {
		if t == nil {
			continue
		}
		f.threads[i] = nil
		f.unfinished = append(f.unfinished, t)
		if f.items != nil {
			x.emit(history.Event{Type: history.MapIterationAborted, Previous: cause, Name: f.owner.state.Name,
				More: iteration(i)})
		}
		x.abort(t, cause)
	}
}

// abort stops a thread and everything nested in it.
func (x *Execution) abort(t *thread, cause int64) {
	t.gone = true
	if t.children != nil {
		t.children.abort(x, cause)
		t.stopped, t.children = t.children, nil
	}
	if w := x.waits[t.work]; w != nil {
		x.cancel(t.work, w)
	}
	x.cancelTimer(&t.timer)
	x.cancelTimer(&t.heartbeat)
	if typ, ok := abortedTypes[t.state.Type]; ok && t.entryID != 0 {
		x.emit(history.Event{Type: typ, Previous: cause})
	}
}

var abortedTypes = map[asl.Type]history.Type{
	asl.Task:     history.TaskStateAborted,
	asl.Wait:     history.WaitStateAborted,
	asl.Parallel: history.ParallelStateAborted,
	asl.Map:      history.MapStateAborted,
}

// writeFailed writes the event for the failure of the whole state. It is called once, if no retry follows.
func (f *fan) writeFailed(x *Execution) {
	typ := history.ParallelStateFailed
	if f.owner.state.Type == asl.Map {
		typ = history.MapStateFailed
	}
	f.owner.last = x.emit(history.Event{Type: typ, Previous: f.owner.last})
}

func iteration(index int) *history.Details { return &history.Details{Index: int64(index)} }
