package simulation

import (
	"fmt"
	"maps"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
)

// ledger tracks what an execution has in flight, from its effects, and finds inconsistent effects.
type ledger struct {
	open map[int64]interpreter.EffectKind // tasks, timers and Map Runs by ID
	last int64
	over bool
}

// begins maps each effect that cancels something to the effect that started it.
var begins = map[interpreter.EffectKind]interpreter.EffectKind{
	interpreter.CancelTask: interpreter.InvokeTask, interpreter.CancelTimer: interpreter.SetTimer,
	interpreter.CancelMapRun: interpreter.StartMapRun,
}

// ends contains the signals that end the task, timer or Map Run that they report on.
var ends = map[interpreter.SignalKind]bool{
	interpreter.TimerFired: true, interpreter.TaskSucceeded: true, interpreter.TaskFailed: true,
	interpreter.TaskStartFailed:  true,
	interpreter.TaskSubmitFailed: true, interpreter.MapRunSucceeded: true, interpreter.MapRunFailed: true,
}

// take records one step, and returns an error if its effects are inconsistent.
func (l *ledger) take(e *interpreter.Signal, r *interpreter.Result, status history.Status) error {
	if l.open == nil {
		l.open = map[int64]interpreter.EffectKind{}
	}
	if e.Kind == interpreter.Redrive {
		l.over = false
	}
	if ends[e.Kind] {
		delete(l.open, e.ID)
	}
	for i := range r.Effects {
		if err := l.effect(e, &r.Effects[i]); err != nil {
			return err
		}
	}
	if l.over != (status != history.Running) {
		return fmt.Errorf("the status is %s, but whether Finish was asked for is %v", status, l.over)
	}
	if l.over && len(l.open) > 0 {
		return fmt.Errorf("the execution has ended with something under way: %v", l.open)
	}
	return nil
}

func (l *ledger) effect(e *interpreter.Signal, f *interpreter.Effect) error {
	if l.over {
		return fmt.Errorf("effect %d of ID %d comes after the end", f.Kind, f.ID)
	}
	switch f.Kind {
	case interpreter.InvokeTask, interpreter.SetTimer, interpreter.StartMapRun:
		if _, open := l.open[f.ID]; open || f.ID <= l.last && !f.Background {
			return fmt.Errorf("ID %d is not new", f.ID)
		}
		if f.Kind == interpreter.SetTimer && f.At.Before(e.At) {
			return fmt.Errorf("timer %d is set to the past", f.ID)
		}
		l.last = max(l.last, f.ID)
		l.open[f.ID] = f.Kind
	case interpreter.CancelTask, interpreter.CancelTimer, interpreter.CancelMapRun:
		if l.open[f.ID] != begins[f.Kind] {
			return fmt.Errorf("effect %d cancels %d, which is not under way", f.Kind, f.ID)
		}
		delete(l.open, f.ID)
	case interpreter.Finish:
		l.over = true
	case interpreter.Yield:
	}
	return nil
}

// agrees compares the ledger with what an execution reports as outstanding.
func (l *ledger) agrees(outstanding []interpreter.Effect) error {
	left := maps.Clone(l.open)
	for i := range outstanding {
		f := &outstanding[i]
		if f.Kind == interpreter.Yield {
			continue
		}
		if left[f.ID] != f.Kind {
			return fmt.Errorf("%s %d is outstanding, but is not under way", effectNames[f.Kind], f.ID)
		}
		delete(left, f.ID)
	}
	if len(left) > 0 {
		return fmt.Errorf("under way, but not outstanding: %v", left)
	}
	return nil
}

// tasks returns the number of tasks in flight.
func (l *ledger) tasks() int {
	n := 0
	for _, k := range l.open {
		if k == interpreter.InvokeTask {
			n++
		}
	}
	return n
}
