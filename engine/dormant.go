package engine

import (
	"errors"
	"time"

	"stepback/engine/clock"
	"stepback/engine/internal/interpreter"
)

// dormantFor is the shortest wait for which an execution is dropped from memory. Replaying it takes about 20 µs.
const dormantFor = 10 * time.Second

// dormant is an execution that waits for timers and is only in the journal. It is the Alarm of its timer.
type dormant struct {
	engine   *Engine
	machines *compiled
	arn      string
	at       time.Time
	timer    *clock.Timer
}

// toDormant returns the dormant form of a replayed run, or nil if the run has to be in memory: it waits for something
// other than a timer, for a retry, or for less than dormantFor.
func (r *run) toDormant(machines *compiled) *dormant {
	if r.mocks != nil || len(r.result.Effects) == 0 {
		return nil
	}
	var at, limit time.Time // of the first timer, and of the first one in the background
	for i := range r.result.Effects {
		f := &r.result.Effects[i]
		if f.Kind != interpreter.SetTimer || f.Retry != nil {
			return nil
		}
		first := &at
		if f.Background {
			first = &limit
		}
		if first.IsZero() || f.At.Before(*first) {
			*first = f.At
		}
	}
	at, limit = at.Add(-r.ahead), limit.Add(-r.ahead)
	if at.Before(r.engine.clock.Now().Add(dormantFor)) || limit.Before(at) && len(r.result.Effects) > 1 {
		return nil
	}
	return &dormant{engine: r.engine, machines: machines, arn: r.record.ARN, at: at}
}

// addDormant makes a dormant execution known. It is called with the engine's lock.
func (e *Engine) addDormant(d *dormant) {
	e.dormant[d.arn] = d
	d.timer = e.clock.Schedule(d.at, d)
}

// Ring implements clock.Alarm: it has the execution restored, whose own timers then fire.
func (d *dormant) Ring() {
	e := d.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	e.clock.Hold()
	e.due = append(e.due, d.arn)
	if e.wakers < e.cfg.Workers {
		e.wakers++
		e.tasks.Go(e.wakeDue)
	}
}

// wakeDue restores executions whose timers have fired, until there are none.
func (e *Engine) wakeDue() {
	for {
		e.mu.Lock()
		if len(e.due) == 0 {
			e.wakers--
			e.due = nil
			e.mu.Unlock()
			return
		}
		arn := e.due[0]
		e.due = e.due[1:]
		e.mu.Unlock()
		if _, err := e.find(e.ctx, arn); err != nil && !errors.Is(err, ErrClosed) && e.ctx.Err() == nil {
			e.log.Error("an execution cannot be resumed; it was left unchanged", "execution", arn, "error", err)
		}
		e.clock.Release()
	}
}

// stopDormant stops the timers of all dormant executions. It is called after closed was set.
func (e *Engine) stopDormant() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, d := range e.dormant {
		d.timer.Stop()
	}
	clear(e.dormant)
}
