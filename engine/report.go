package engine

import (
	"context"

	"stepback/engine/internal/interpreter"
)

// report is an event whose sender wants to know whether it counted.
type report struct {
	at       int                                // which of the waiting events it is
	admit    func(*interpreter.Execution) error // judges it just before it is applied; an error drops it
	answered func(error)                        // by the worker, once what the event did is durable; quick
	err      error
}

// deliverThen queues an event like deliver. admit decides whether it counts, and then learns of that; both run on the
// worker that has the run, then before the effects of the step. An execution that is over answers with ErrTaskTimedOut,
// on any goroutine.
func (r *run) deliverThen(ev interpreter.Signal, admit func(*interpreter.Execution) error, then func(error)) {
	r.mu.Lock()
	if r.over {
		r.mu.Unlock()
		then(ErrTaskTimedOut)
		return
	}
	r.engine.clock.Hold()
	r.reports = append(r.reports, report{at: len(r.events), admit: admit, answered: then})
	r.events = append(r.events, ev)
	r.wake()
}

// ask delivers an event and waits until what it did is durable.
func (r *run) ask(ctx context.Context, ev interpreter.Signal, admit func(*interpreter.Execution) error) error {
	answer := make(chan error, 1)
	r.deliverThen(ev, admit, func(err error) { answer <- err })
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-r.engine.ctx.Done():
		return ErrClosed
	}
}

// answerReports tells those who wait for the events of the step that the journal has answered.
func (r *run) answerReports(err error) {
	for _, a := range r.asked {
		if a.err == nil {
			a.err = err
		}
		a.answered(a.err)
	}
	r.asked = nil
}
