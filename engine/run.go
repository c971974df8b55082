package engine

import (
	"context"
	"hash/fnv"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/journal"
)

// run is a running execution: the interpreter's state, the signals waiting for it, and its work in flight.
type run struct {
	engine       *Engine
	machine      *StateMachine
	x            *interpreter.Execution
	record       journal.Execution
	definition   *journal.Definition      // to be stored with the first step; nil for a child execution
	past         *journal.Past            // of a redriven execution: to be stored with the first step
	mocks        Interceptor              // nil if nothing is mocked
	began        func()                   // of a child execution: informs its Map Run; see begin
	ended        func(*journal.Execution) // of a child execution: informs its Map Run
	ahead        time.Duration            // how far the execution's time is ahead of the clock; see catchUp
	redriveToken string                   // of the client that redrives the execution
	begun        chan struct{}            // closed once the start is durable or was refused
	done         chan struct{}            // closed once the end is durable or the journal refused a step
	err          error                    // why the journal refused; set before done is closed

	mu      sync.Mutex
	events  []interpreter.Signal
	reports []report // for some of the signals, in their order
	queued  bool     // in the queue, with a worker, or waiting for a commit
	over    bool
	failing error // why the execution must be given up; see giveUp
	// ending is true from the moment when a signal is queued that ends the execution. Expressions read it.
	ending  atomic.Bool
	retries map[int64]*Retry // the retries being waited for, by the IDs of their timers
	history []history.Event
	durable int // number of durable events of the history

	commit commit

	waiting     map[int]func() // called at the end; see whenOver
	nextWaiting int
	told        bool // the waiting functions have been called

	// stamped is the time of the last step, in nanoseconds since 1970, until that step has been tracked. It is 0 if all
	// steps have been tracked, and stamping while the worker reads the clock for a step. Only the worker that has the
	// run sets it; see Engine.Tracked.
	stamped atomic.Int64

	// Used only by the worker that has the run.
	tracked bool                  // Config.Track has been called
	track   func([]history.Event) // its result
	result  *interpreter.Result   // of the step in progress or replayed; nil between steps
	applied []interpreter.Signal
	asked   []report  // for some of the signals of the step
	steps   int64     // number committed so far
	last    time.Time // time of the last step
	salt    uint64    // mixed into the seeds
	started bool
	timers  map[int64]*clock.Timer
	// awaitsRetries is true once there has been a retry.
	awaitsRetries bool
	calls         map[int64]context.CancelFunc
}

// newRun returns the run of an execution that is about to start.
func (e *Engine) newRun(m *StateMachine, info history.Info) *run {
	if m.definition != nil {
		info.Definition = m.definition.ID
	}
	r := e.runOf(m, &journal.Execution{Info: info, Status: history.Running, Start: e.clock.Now()}, nil)
	r.definition = m.definition
	return r
}

// runOf returns a run of execution x to which no signal has been applied yet.
func (e *Engine) runOf(m *StateMachine, x *journal.Execution, mocks Interceptor) *run {
	r := &run{
		engine: e, machine: m, record: *x, mocks: mocks, begun: make(chan struct{}), done: make(chan struct{}),
		salt: saltOf(x.ARN),
	}
	r.x = interpreter.New(m.interpreterMachine(e.cfg.Region), &r.record.Info)
	r.x.CheckTasks(r.unusable)
	r.x.Interrupt(r.isEnding)
	r.commit.answered = r.answered
	return r
}

// results are the results of earlier steps, whose memory is used again. Most executions have few steps and then wait or
// end, so a result of their own would only be garbage.
var results = sync.Pool{New: func() any { return new(interpreter.Result) }}

func newResult() *interpreter.Result {
	result, _ := results.Get().(*interpreter.Result)
	return result
}

// dropResult makes the memory of the last step's result available to other runs.
func (r *run) dropResult() {
	if r.result != nil {
		dropResult(r.result)
		r.result = nil
	}
}

// dropResult empties a result and keeps it for reuse.
func dropResult(result *interpreter.Result) {
	result.Reset()
	results.Put(result)
}

func saltOf(arn string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(arn)) // cannot fail
	return h.Sum64()
}

// now returns the execution's time, which never goes back.
func (r *run) now() time.Time {
	if now := r.engine.clock.Now().Add(r.ahead); now.After(r.last) {
		return now
	}
	return r.last
}

// deliver queues a signal. It never blocks; signals after the end are dropped.
func (r *run) deliver(ev interpreter.Signal) { r.enqueue(ev, false) }

// deliverEnd queues a signal that ends the execution, and interrupts an expression that is being evaluated.
func (r *run) deliverEnd(ev interpreter.Signal) { r.enqueue(ev, true) }

func (r *run) enqueue(ev interpreter.Signal, ends bool) {
	r.mu.Lock()
	if r.over {
		r.mu.Unlock()
		return
	}
	r.engine.clock.Hold()
	r.events = append(r.events, ev)
	if ends {
		r.ending.Store(true)
	}
	r.wake()
}

// isEnding reports whether the execution is about to end, or the engine closes. The interpreter calls it while
// expressions are evaluated.
func (r *run) isEnding() bool {
	if r.engine.evaluating != nil {
		r.engine.evaluating(r.record.ARN)
	}
	return r.ending.Load() || r.engine.stopping.Load()
}

// giveUp ends a run in this process because the journal refused something that it depends on. The stored execution is
// left unchanged.
func (r *run) giveUp(err error) {
	r.mu.Lock()
	if r.over {
		r.mu.Unlock()
		return
	}
	r.failing = err
	r.wake()
}

// wake queues the run for a worker. It is called with mu held, and unlocks it.
func (r *run) wake() {
	idle := !r.queued
	r.queued = true
	r.mu.Unlock()
	if idle {
		r.engine.queue.put(r)
	}
}

// work advances a run. If the journal has answered, it processes the answer; otherwise it applies all waiting
// signals and commits their effects.
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
	if r.result == nil {
		r.result = newResult()
	}
	r.stamped.Store(stamping)
	events, now, complete := r.step(events)
	if !complete { // the engine closes: the step is as if it had not begun, and Close releases the run
		r.commit.phase.Store(committing)
		return
	}
	if r.result.Idle() {
		r.committed() // the signals came too late: there is nothing to store
		return
	}
	r.commit.phase.Store(committing)
	e.cfg.Journal.Commit(r.toCommit(events, now), r.commit.answered)
	if !r.commit.phase.CompareAndSwap(committing, waiting) {
		r.committed() // the journal has answered already
	}
}

// seed returns the seed of the n-th signal of the step, from 1. It is derived from the engine's seed, the execution,
// and the execution's progress. Other executions do not influence it, and successive engines with the same seed on
// one journal do not draw the same identifiers twice.
func (r *run) seed(n int) uint64 {
	random := aws.Random{Seed: r.engine.cfg.Seed ^ r.salt}
	for _, part := range []uint64{uint64(r.record.RedriveCount), uint64(r.steps), uint64(n)} {
		random.Seed = random.Uint64() ^ part
	}
	return random.Uint64()
}

// step applies signals, and if an expression is interrupted, those queued meanwhile, of which one ends the execution.
// It returns the signals that were not dropped and the time of the step. complete is false if an expression was
// interrupted because the engine closes.
func (r *run) step(events []interpreter.Signal) (applied []interpreter.Signal, now time.Time, complete bool) {
	now = r.now()
	r.stamped.Store(now.UnixNano())
	r.result.Reset()
	asked, counted := 0, 0
	for i := 0; ; i++ {
		if i == len(events) && r.x.Interrupted() {
			events = r.takeMore(events)
		}
		if i == len(events) {
			break
		}
		if asked < len(r.asked) && r.asked[asked].at == i {
			a := &r.asked[asked]
			asked++
			if a.err = a.admit(r.x); a.err != nil {
				continue
			}
		}
		events[counted] = events[i]
		e := &events[counted]
		counted++
		e.At = now
		e.Seed = r.seed(counted)
		r.x.Step(e, r.result)
		if e.Kind == interpreter.TimerFired && r.awaitsRetries {
			r.removeRetry(e.ID)
		}
		if e.Kind.EndsTask() {
			// The call is dropped even if its request is still in progress, because something other than the callee
			// may report the end.
			delete(r.calls, e.ID)
		}
	}
	if r.x.Interrupted() {
		return nil, now, false
	}
	r.last = now
	r.mu.Lock()
	r.history = append(r.history, r.result.History...)
	r.mu.Unlock()
	return events[:counted], now, true
}

// takeMore appends the signals that were queued since the step began to those of the step.
func (r *run) takeMore(events []interpreter.Signal) []interpreter.Signal {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.reports {
		a.at += len(events)
		r.asked = append(r.asked, a)
	}
	r.reports = nil
	events = append(events, r.events...)
	clear(r.events)
	r.events = r.events[:0]
	r.applied = events
	r.commit.events = len(events)
	return events
}

// begin informs the caller that started the execution, and the Map Run of a child execution, that the start is durable
// or was refused.
func (r *run) begin() {
	if r.started {
		return
	}
	r.started = true
	close(r.begun)
	if r.began != nil {
		r.began()
	}
}

// snapshot returns a copy of the durable part of the history so far.
func (r *run) snapshot() []history.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.history[:r.durable])
}
