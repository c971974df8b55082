package engine

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/journal"
)

// resume queues a replayed execution, so that a worker carries out its outstanding effects.
func (r *run) resume() {
	r.mu.Lock()
	r.wake()
}

// replay applies the steps to a run. The run is then in the same state as after a durable step, and everything
// outstanding is the effects of that step.
func (r *run) replay(steps []journal.Step) error {
	effects, err := r.reapply(steps)
	if err != nil {
		return err
	}
	if r.x.Status() != history.Running || len(steps) == 0 {
		return fmt.Errorf("after its %d steps it is %s", len(steps), r.x.Status())
	}
	r.result = &interpreter.Result{Effects: r.x.Outstanding()}
	r.skipMocks(effects, r.result.Effects)
	r.steps, r.started = int64(len(steps)), true
	close(r.begun)
	r.engine.clock.Hold()
	r.commit.events = 1
	r.commit.phase.Store(settled)
	return nil
}

// reapply applies the signals of all steps and compares the resulting history with the stored one. The run keeps the
// resulting one, whose texts are shared with the definition and the input. If the tasks of the execution are mocked, it
// returns the effects of the steps.
func (r *run) reapply(steps []journal.Step) (effects []interpreter.Effect, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("replaying it panicked: %v", p)
		}
	}()
	result := newResult() // of each step; a waiting run keeps no memory for more than its effects
	defer dropResult(result)
	for i := range steps {
		s := &steps[i]
		result.Reset()
		for k := range s.Signals {
			r.x.Step(&s.Signals[k], result)
			r.last, r.salt = s.Signals[k].At, r.salt*31+s.Signals[k].Seed
		}
		if !same(result.History, s.History) {
			return nil, &DivergedError{Step: i, Then: s.History, Now: append([]history.Event(nil), result.History...)}
		}
		r.history = append(r.history, result.History...)
		if r.mocks != nil {
			effects = append(effects, result.Effects...)
		}
	}
	r.durable = len(r.history)
	return effects, nil
}

// skipMocks informs the mock of an execution's tasks about the invocations in effects that have already been carried
// out.
func (r *run) skipMocks(effects, outstanding []interpreter.Effect) {
	for i := range effects {
		again := slices.ContainsFunc(outstanding, func(o interpreter.Effect) bool { return o.ID == effects[i].ID })
		if effects[i].Kind == interpreter.InvokeTask && !again {
			r.intercept(effects[i].Task)
		}
	}
}

// same reports whether two histories are equal byte for byte.
func same(a, b []history.Event) bool {
	if len(a) != len(b) {
		return false
	}
	stored := storedForms.Get().(*[2][]byte)
	defer storedForms.Put(stored)
	stored[0], stored[1] = history.AppendBinary(stored[0][:0], a, nil),
		history.AppendBinary(stored[1][:0], b, nil)
	return bytes.Equal(stored[0], stored[1])
}

// storedForms holds memory for the stored forms that same compares. A recovery compares every step.
var storedForms = sync.Pool{New: func() any { return new([2][]byte) }}
