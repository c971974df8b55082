package engine

import (
	"sync/atomic"
	"time"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/journal"
)

// commit is the step of a run that the journal is writing.
type commit struct {
	phase    atomic.Int32
	events   int         // how many events hold the clock for it
	err      error       // the journal's result, set in the phase settled
	answered func(error) // called with the journal's result
}

// The phases of a commit.
const (
	free       int32 = iota
	committing       // the journal has the step, and the worker is still with the run
	waiting          // the worker has moved on to other runs
	settled          // the journal has returned the result
)

// toCommit returns the journal record of the step that the worker has just made.
func (r *run) toCommit(signals []interpreter.Signal, now time.Time) *journal.Record {
	rec := &journal.Record{
		Execution: &r.record, Definition: r.definition, Past: r.past, Step: r.steps, Signals: signals,
		History: r.result.History,
		Begin:   r.steps == 0,
	}
	if r.past != nil {
		r.record.Redriven = now
		rememberToken(&r.record, r.redriveToken, now)
	}
	r.definition, r.past = nil, nil
	r.steps++
	if rec.Begin {
		r.record.Start, r.record.FirstStep = now, int64(len(rec.History))
	}
	if r.x.Status() != history.Running {
		rec.End, rec.All = true, r.history
		r.record.Status, r.record.Stop = r.x.Status(), now
		r.record.Output, r.record.Failure = r.x.Output(), r.x.Failure()
		r.record.HistorySize = int64(len(r.history))
	}
	return rec
}

// answered receives the journal's result for a commit, on any goroutine. A worker then continues the run.
func (r *run) answered(err error) {
	r.commit.err = err
	if r.commit.phase.Swap(settled) == waiting {
		r.engine.queue.put(r)
	}
}

// committed performs the effects of a durable step and lets the run continue. If the journal rejected the step, it
// gives the run up.
func (r *run) committed() {
	if err := r.commit.err; err != nil {
		r.answerReports(err)
		r.refused(err)
	} else {
		r.mu.Lock()
		past := r.history[:r.durable]
		r.durable = len(r.history)
		r.mu.Unlock()
		if len(r.result.History) > 0 {
			r.beginTracking(past, false)
			if r.track != nil {
				r.track(r.result.History)
			}
		}
		r.begin()
		if follow := r.engine.cfg.Follow; follow != nil && len(r.result.History) > 0 {
			follow(&r.record, r.result.History)
		}
		r.answerReports(nil)
		r.perform()
	}
	r.dropResult()
	r.stamped.Store(0)
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
