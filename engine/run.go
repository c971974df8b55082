package engine

import (
	"context"
	"hash/fnv"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/interpreter"
	"stepback/engine/journal"
)

// run is an execution that is under way: the interpreter's state, the events waiting for it, and what it has in flight.
type run struct {
	engine     *Engine
	x          *interpreter.Execution
	record     journal.Execution
	definition *journal.Definition      // to be kept with the first step; nil for a child execution
	mocks      Interceptor              // nil when nothing is mocked
	ended      func(*journal.Execution) // of a child execution: tells its Map Run
	ahead      time.Duration            // how far the execution's time is ahead of the clock; see catchUp
	begun      chan struct{}            // closed once the start is durable, or was refused
	done       chan struct{}            // closed once the end is durable, or the journal refused to go on
	err        error                    // why the journal refused; set before done is closed

	mu      sync.Mutex
	events  []interpreter.Event
	reports []report // on some of the events, in their order
	queued  bool     // in the queue, with a worker, or waiting for a commit
	over    bool
	failing error // why the execution has to be given up; see giveUp
	history []history.Event
	durable int // how many events of the history are durable

	commit commit

	waiting     map[int]func() // called at the end; see whenOver
	nextWaiting int
	told        bool // those who waited have been told

	// Touched only by the worker that has the run.
	result  interpreter.Result
	applied []interpreter.Event
	asked   []report  // on some of the events of the step
	steps   int64     // committed so far
	last    time.Time // of the last step
	salt    uint64    // of the seeds
	started bool
	timers  map[int64]*clock.Timer
	calls   map[int64]context.CancelFunc
}

// commit is the step of a run that is with the journal.
type commit struct {
	phase    atomic.Int32
	events   int         // how many hold the clock for it
	err      error       // the journal's answer, from the phase settled on
	answered func(error) // takes the answer
}

// The phases of a commit.
const (
	free       int32 = iota
	committing       // the journal has the step, and the worker is still there
	waiting          // the worker has gone on to other runs
	settled          // the journal has answered
)

// newRun makes a run of an execution that is described by record and is about to begin.
func (e *Engine) newRun(m *StateMachine, info interpreter.Info) *run {
	r := e.revive(m, info)
	r.definition = m.definition
	r.record = journal.Execution{
		ARN: info.ARN, Name: info.Name, MachineARN: info.MachineARN, Express: info.Express,
		Status: interpreter.Running, Start: e.clock.Now(), Input: info.Input,
		VersionARN: info.VersionARN, AliasARN: info.AliasARN,
	}
	if m.definition != nil {
		r.record.Definition = m.definition.ID
	}
	return r
}

// revive makes a run without a description.
func (e *Engine) revive(m *StateMachine, info interpreter.Info) *run {
	r := &run{engine: e, x: interpreter.New(m.plan, info), begun: make(chan struct{}), done: make(chan struct{})}
	r.commit.answered = r.answered
	r.salt = saltOf(info.ARN)
	return r
}

func saltOf(arn string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, arn) // cannot fail
	return h.Sum64()
}

// now is the execution's time, which never goes back.
func (r *run) now() time.Time {
	if now := r.engine.clock.Now().Add(r.ahead); now.After(r.last) {
		return now
	}
	return r.last
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
	r.wake()
}

// giveUp ends a run in this process, because the journal refused something that it depends on: the execution is left as it was.
func (r *run) giveUp(err error) {
	r.mu.Lock()
	if r.over {
		r.mu.Unlock()
		return
	}
	r.failing = err
	r.wake()
}

// wake has a worker look at the run. It is called with mu held, and unlocks it.
func (r *run) wake() {
	idle := !r.queued
	r.queued = true
	r.mu.Unlock()
	if idle {
		r.engine.queue.put(r)
	}
}

// work goes on with a run: it takes the journal's answer, or applies all events that wait for the run and commits what they did.
func (e *Engine) work(r *run) {
	if r.commit.phase.Load() == settled {
		r.committed()
		return
	}
	r.mu.Lock()
	failing := r.failing
	events := r.events
	r.events = r.applied[:0]
	r.asked, r.reports = r.reports, nil
	r.mu.Unlock()
	r.applied = events
	r.commit.events = len(events)
	if failing != nil {
		r.commit.err = failing
		r.committed()
		return
	}
	events, now := r.step(events)
	if len(r.result.History)+len(r.result.Effects) == 0 {
		r.committed() // the events came too late: there is nothing to keep
		return
	}
	r.commit.phase.Store(committing)
	e.cfg.Journal.Commit(r.toCommit(events, now), r.commit.answered)
	if !r.commit.phase.CompareAndSwap(committing, waiting) {
		r.committed() // the journal has answered already
	}
}

// step applies events and returns those that counted.
func (r *run) step(events []interpreter.Event) ([]interpreter.Event, time.Time) {
	now := r.now()
	r.result.Reset()
	asked, counted := r.asked, 0
	for i := range events {
		if len(asked) > 0 && asked[0].at == i {
			a := &asked[0]
			asked = asked[1:]
			if a.err = a.admit(r.x); a.err != nil {
				continue
			}
		}
		events[counted] = events[i]
		e := &events[counted]
		counted++
		e.At = now
		e.Seed = r.engine.seeds.next() ^ r.salt
		r.x.Step(e, &r.result)
		if e.Kind.EndsTask() {
			delete(r.calls, e.ID) // even if its request is still under way: whoever reported the end need not be the one asked
		}
	}
	r.last = now
	r.mu.Lock()
	r.history = append(r.history, r.result.History...)
	r.mu.Unlock()
	return events[:counted], now
}

// toCommit is the journal record of what the worker just did.
func (r *run) toCommit(events []interpreter.Event, now time.Time) *journal.Record {
	rec := &journal.Record{
		Execution: &r.record, Definition: r.definition, Step: r.steps, Events: events, History: r.result.History, Begin: r.steps == 0,
	}
	r.definition = nil
	r.steps++
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

// answered takes the journal's answer to a commit, on any goroutine. A worker goes on from there.
func (r *run) answered(err error) {
	r.commit.err = err
	if r.commit.phase.Swap(settled) == waiting {
		r.engine.queue.put(r)
	}
}

// committed carries out the effects of a durable step and lets the run go on.
func (r *run) committed() {
	if err := r.commit.err; err != nil {
		r.answerReports(err)
		r.refused(err)
	} else {
		r.mu.Lock()
		r.durable = len(r.history)
		r.mu.Unlock()
		r.begin()
		r.answerReports(nil)
		r.perform()
	}
	clear(r.applied)
	for range r.commit.events {
		r.engine.clock.Release()
	}
	r.commit.events = 0
	r.commit.phase.Store(free)
	r.mu.Lock()
	again := (len(r.events) > 0 || r.failing != nil) && !r.over
	r.queued = again
	r.mu.Unlock()
	if again {
		r.engine.queue.put(r)
	}
}

// begin tells whoever started the execution that its start is durable.
func (r *run) begin() {
	if !r.started {
		r.started = true
		close(r.begun)
	}
}

// snapshot copies the history so far, as far as it is durable.
func (r *run) snapshot() []history.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.history[:r.durable])
}
