package interpreter

import (
	"context"
	"errors"
)

// An expression may run for seconds. If the execution ends meanwhile, because it is stopped, its time is up or the
// engine closes, the evaluation is interrupted: nothing of the state's work after it happens, and the execution ignores
// all signals but the one that ends it. The signal notes which of its evaluations was interrupted. A replay interrupts
// the same one before it begins, so that the history and the IDs are the same.

// pollEvery is the work of a state's short expressions, in steps, after which each further one asks for an end.
const pollEvery = 4096

// interruption is the value with which an interrupted evaluation panics, to leave the state from any depth. Step
// recovers it.
type interruption struct{}

var errInterrupted = errors.New("the execution ends")

// Interrupt sets a function that reports whether the execution is about to end. Expressions call it while they are
// evaluated, every few thousand steps. If it returns true, the signal that ends the execution must be passed to Step
// next, unless the execution is abandoned; see Interrupted.
func (x *Execution) Interrupt(ending func() bool) { x.ending = ending }

// Interrupted reports whether an evaluation was interrupted. Signals other than the one that ends the execution then
// have no effect.
func (x *Execution) Interrupted() bool { return x.interrupted }

// interruptible calls do, and notes in e if an evaluation in it is interrupted.
func (x *Execution) interruptible(e *Signal, do func()) {
	x.evaluations, x.interruptAt = 0, e.Interrupted
	defer func() {
		switch p := recover(); p {
		case nil:
		case interruption{}:
			x.interrupted = true
			e.Interrupted = x.evaluations
			x.work = 0
		default:
			panic(p)
		}
	}()
	do()
}

// evaluates counts an evaluation that is about to begin.
func (x *Execution) evaluates() {
	x.evaluations++
	x.begins = true
	if x.evaluations == x.interruptAt || x.work >= pollEvery && x.ending != nil && x.ending() {
		panic(interruption{})
	}
}

// poll is called by evaluations from time to time. It returns an error if the execution ends. The first call of an
// evaluation, which is at its beginning, never does.
func (x *Execution) poll() error {
	if x.begins {
		x.begins = false
		return nil
	}
	if x.ending != nil && x.ending() {
		x.hit = true
		return errInterrupted
	}
	return nil
}

// evaluated leaves the state if the evaluation that has returned was interrupted.
func (x *Execution) evaluated() {
	if x.hit {
		x.hit = false
		panic(interruption{})
	}
}

// ends reports whether a signal ends the execution.
func (x *Execution) ends(e *Signal) bool {
	w := x.waits[e.ID]
	return e.Kind == Stop || e.Kind == TimerFired && w != nil && w.kind == machineTimeout
}

// whileSelecting calls do, which evaluates an ItemSelector, and returns ctx's error if ctx ends meanwhile.
func (x *Execution) whileSelecting(ctx context.Context, do func()) (err error) {
	x.ending = func() bool { return ctx.Err() != nil }
	defer func() {
		switch p := recover(); p {
		case nil:
		case interruption{}:
			err = context.Cause(ctx)
		default:
			panic(p)
		}
	}()
	do()
	return nil
}
