package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/interpreter"
	"stepback/engine/journal"
	"stepback/engine/plan"
)

// run is an execution that is under way: the interpreter's state, the events waiting for it, and what it has in flight.
type run struct {
	engine *Engine
	x      *interpreter.Execution
	record journal.Execution
	mocks  Interceptor              // nil when nothing is mocked
	ended  func(*journal.Execution) // of a child execution: tells its Map Run
	begun  chan struct{}            // closed once the start is durable, or was refused
	done   chan struct{}            // closed once the end is durable, or the journal refused to go on
	err    error                    // why the journal refused; set before done is closed

	mu      sync.Mutex
	events  []interpreter.Event
	queued  bool // in the queue, with a worker, or waiting for a commit
	over    bool
	history []history.Event

	waiting     map[int]func() // called at the end; see whenOver
	nextWaiting int
	told        bool // those who waited have been told

	// Touched only by the worker that has the run.
	result  interpreter.Result
	applied []interpreter.Event
	started bool
	timers  map[int64]*clock.Timer
	calls   map[int64]context.CancelFunc
}

// deliver queues an event. It never blocks; events after the end are dropped.
func (r *run) deliver(ev interpreter.Event) {
	r.mu.Lock()
	if r.over {
		r.mu.Unlock()
		return
	}
	r.engine.clock.Hold()
	r.events = append(r.events, ev)
	idle := !r.queued
	r.queued = true
	r.mu.Unlock()
	if idle {
		r.engine.queue.put(r)
	}
}

// work applies all events that wait for a run, commits what they did, and carries the effects out once that is durable.
func (e *Engine) work(r *run) {
	r.mu.Lock()
	events := r.events
	r.events = r.applied[:0]
	r.mu.Unlock()
	r.result.Reset()
	now := e.clock.Now()
	for i := range events {
		events[i].At = now
		events[i].Seed = e.seeds.next()
		r.x.Step(&events[i], &r.result)
	}
	r.applied = events
	r.mu.Lock()
	r.history = append(r.history, r.result.History...)
	r.mu.Unlock()
	e.cfg.Journal.Commit(r.step(events, now), func(err error) { r.committed(len(events), err) })
}

// step is the journal record of what the worker just did.
func (r *run) step(events []interpreter.Event, now time.Time) *journal.Record {
	rec := &journal.Record{Execution: &r.record, Events: events, History: r.result.History}
	rec.Begin = len(r.result.History) > 0 && r.result.History[0].Type == history.ExecutionStarted
	if rec.Begin {
		r.record.Start = now
	}
	if r.x.Status() != interpreter.Running {
		rec.End, rec.All = true, r.history
		r.record.Status, r.record.Stop = r.x.Status(), now
		r.record.Output, r.record.Failure = r.x.Output(), r.x.Failure()
		r.record.HistorySize = int64(len(r.history))
	}
	return rec
}

// committed carries out the effects of a durable step and lets the run go on.
func (r *run) committed(events int, err error) {
	if err != nil {
		r.refused(err)
	} else {
		r.begin()
		r.perform()
	}
	clear(r.applied)
	r.mu.Lock()
	again := len(r.events) > 0 && !r.over
	r.queued = again
	r.mu.Unlock()
	if again {
		r.engine.queue.put(r)
	}
	for range events {
		r.engine.clock.Release()
	}
}

// begin tells whoever started the execution that its start is durable.
func (r *run) begin() {
	if !r.started {
		r.started = true
		close(r.begun)
	}
}

// refused gives an execution up because the journal cannot keep what it did: nothing of the step becomes visible.
func (r *run) refused(err error) {
	e := r.engine
	e.log.Error("the journal refused a step; the execution is left as it was", "execution", r.record.ARN, "error", err)
	r.err = fmt.Errorf("execution %s cannot go on: the journal refused a step: %w", r.record.ARN, err)
	r.abandon()
	e.forget(r)
	close(r.done) // first: who waits for the start looks here next
	r.tell()
	r.begin()
	if r.ended != nil {
		r.record.Status = interpreter.Failed
		r.record.Failure = history.NewFailure(plan.ErrRuntime, r.err.Error())
		r.ended(&r.record)
	}
}

// forget drops a run that is not under way any more.
func (e *Engine) forget(r *run) {
	e.mu.Lock()
	delete(e.runs, r.record.ARN)
	e.mu.Unlock()
}

func (r *run) perform() {
	for i := range r.result.Effects {
		f := &r.result.Effects[i]
		switch f.Kind {
		case interpreter.InvokeTask:
			r.invoke(f.ID, f.Task)
		case interpreter.CancelTask, interpreter.CancelMapRun:
			if cancel, ok := r.calls[f.ID]; ok {
				delete(r.calls, f.ID)
				cancel()
			}
		case interpreter.SetTimer:
			r.timers[f.ID] = r.engine.clock.Schedule(f.At, &alarm{r, f.ID})
		case interpreter.CancelTimer:
			if t, ok := r.timers[f.ID]; ok {
				delete(r.timers, f.ID)
				t.Stop()
			}
		case interpreter.StartMapRun:
			r.startMapRun(f.ID, f.MapRun)
		case interpreter.Yield:
			r.deliver(interpreter.Event{Kind: interpreter.Continue})
		case interpreter.Finish:
			r.finish()
		}
	}
}

// alarm rings a run's timer.
type alarm struct {
	run *run
	id  int64
}

func (a *alarm) Ring() { a.run.deliver(interpreter.Event{Kind: interpreter.TimerFired, ID: a.id}) }

// finish tells everybody who waits that the execution has ended.
func (r *run) finish() {
	e := r.engine
	if e.cfg.Observe != nil {
		e.cfg.Observe(&r.record, r.history)
	}
	r.abandon()
	e.forget(r)
	close(r.done)
	r.tell()
	if r.ended != nil {
		r.ended(&r.record)
	}
}

// abandon drops what waits for the run and stops what it has in flight.
func (r *run) abandon() {
	r.mu.Lock()
	r.over = true
	dropped := len(r.events)
	r.events = nil
	r.mu.Unlock()
	for id, cancel := range r.calls {
		delete(r.calls, id)
		cancel()
	}
	for id, t := range r.timers {
		delete(r.timers, id)
		t.Stop()
	}
	for range dropped {
		r.engine.clock.Release()
	}
}

// release gives up a run that is still under way when the engine closes.
func (r *run) release() { r.abandon() }

// snapshot copies the history so far.
func (r *run) snapshot() []history.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.history)
}
