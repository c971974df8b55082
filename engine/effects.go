package engine

import (
	"context"
	"fmt"

	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
)

// perform performs the effects of a step that is durable.
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
			if r.record.Status != history.Running {
				continue // the step that set it has ended the execution, such as one that waits for nothing
			}
			if r.timers == nil {
				r.timers = map[int64]*clock.Timer{}
			}
			schedule := r.engine.clock.Schedule
			if f.Background {
				schedule = r.engine.clock.ScheduleInBackground
			}
			if f.Retry == nil {
				r.timers[f.ID] = schedule(f.At.Add(-r.ahead), &alarm{r, f.ID, f.Ends})
				continue
			}
			r.awaitsRetries = true
			r.addRetry(f.ID, f.Retry) // first: the alarm looks for it
			r.timers[f.ID] = schedule(f.At.Add(-r.ahead), &retryAlarm{r, f.ID})
		case interpreter.CancelTimer:
			if t, ok := r.timers[f.ID]; ok {
				delete(r.timers, f.ID)
				t.Stop()
			}
			if r.awaitsRetries {
				r.removeRetry(f.ID)
			}
		case interpreter.StartMapRun:
			r.startMapRun(f.ID, f.MapRun)
		case interpreter.Yield:
			r.deliver(interpreter.Signal{Kind: interpreter.Continue})
		case interpreter.Finish:
			r.finish()
		}
	}
}

// alarm delivers the firing of a timer to its run.
type alarm struct {
	run  *run
	id   int64
	ends bool // it ends the execution
}

func (a *alarm) Ring() {
	a.run.enqueue(interpreter.Signal{Kind: interpreter.TimerFired, ID: a.id}, a.ends)
}

// cancellable returns a context for the operation in flight with this id. Cancelling the context ends the
// operation.
func (r *run) cancellable(id int64) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(r.engine.ctx)
	if r.calls == nil {
		r.calls = map[int64]context.CancelFunc{}
	}
	r.calls[id] = cancel
	return ctx, cancel
}

// finish notifies everything that waits for the end of the execution.
func (r *run) finish() {
	e := r.engine
	if e.cfg.Observe != nil {
		e.cfg.Observe(&r.record, r.history)
	}
	r.abandon()
	e.forget(r)
	close(r.done)
	r.notifyWaiters()
	if r.ended != nil {
		r.ended(&r.record)
	}
}

// refused gives an execution up because the journal cannot store its step. No part of the step becomes visible, and
// the execution keeps the state that the journal has stored.
func (r *run) refused(err error) {
	e := r.engine
	e.log.Error("the journal rejected a step; the execution was left unchanged", "execution", r.record.ARN, "error", err)
	r.err = fmt.Errorf("execution %s cannot continue: the journal rejected a step: %w", r.record.ARN, err)
	r.abandon()
	e.forget(r)
	close(r.done) // first: callers that wait for the start look here next
	r.notifyWaiters()
	r.begin()
	if r.ended != nil {
		r.record.Status = history.Running
		r.ended(&r.record)
	}
}

// forget removes a run that has ended.
func (e *Engine) forget(r *run) {
	e.mu.Lock()
	delete(e.runs, r.record.ARN)
	e.mu.Unlock()
}

// abandon drops the run's queued events and stops its operations in flight.
func (r *run) abandon() {
	r.forgetRetries()
	r.mu.Lock()
	r.over = true
	dropped, reports := len(r.events), r.reports
	r.events, r.reports = nil, nil
	r.mu.Unlock()
	for _, a := range reports {
		a.answered(ErrTaskTimedOut)
	}
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

// release gives up a run that is still active when the engine closes. It is called after the engine's workers have
// ended.
func (r *run) release() {
	r.abandon()
	if r.commit.phase.Load() != free {
		for range r.commit.events {
			r.engine.clock.Release()
		}
		r.commit.events = 0
	}
}
