package engine

import (
	"runtime"
	"time"

	"stepback/engine/history"
	"stepback/engine/journal"
)

// stamping is the value of run.stamped while a step is given its time.
const stamping = -1 << 63

// beginTracking calls Config.Track, once for each run.
func (r *run) beginTracking(past []history.Event, recovered bool) {
	if track := r.engine.cfg.Track; track != nil && !r.tracked {
		r.track = track(&r.record, past, recovered)
	}
	r.tracked = true
}

// trackUnfinished passes the events of an execution that was found unfinished, and that no run continues, to
// Config.Track. end is the event with which recovery ended the execution; nil means that it was left unchanged.
func (e *Engine) trackUnfinished(x *journal.Execution, steps []journal.Step, end []history.Event) {
	if e.cfg.Track == nil {
		return
	}
	var past []history.Event
	for i := range steps {
		past = append(past, steps[i].History...)
	}
	if track := e.cfg.Track(x, past, true); track != nil && len(end) > 0 {
		track(end)
	}
}

// Tracked returns a time before which every event has been passed to Config.Track, or was refused by the journal.
// waits is true if steps are waiting for the journal; before is then the time of the oldest one. Otherwise it is the
// current time. Executions whose time is ahead of the clock have only later events. Tracked does not consider
// executions that Recover has yet to find.
func (e *Engine) Tracked() (before time.Time, waits bool) {
	oldest := e.clock.Now().UnixNano() // first: a step that begins from here on is not earlier
	e.mu.Lock()
	runs := make([]*run, 0, len(e.runs))
	for _, r := range e.runs {
		runs = append(runs, r)
	}
	e.mu.Unlock()
	for _, r := range runs {
		at := r.stamped.Load()
		for at == stamping { // it lasts as long as reading the clock
			runtime.Gosched()
			at = r.stamped.Load()
		}
		if at != 0 {
			waits, oldest = true, min(oldest, at)
		}
	}
	return time.Unix(0, oldest), waits
}
