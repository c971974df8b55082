package engine

import (
	"context"

	"stepback/engine/internal/interpreter"
	"stepback/internal/ctxerr"
)

// report is a signal whose sender wants to know whether it counted.
type report struct {
	at       int                                // index of the waiting signal
	admit    func(*interpreter.Execution) error // decides just before the signal is applied; an error drops the signal
	answered func(error)                        // called once the signal's effect is durable; must be quick
	err      error
}

// deliverThen queues a signal like deliver. admit decides whether the signal counts; then is called with the
// outcome. Both run on the worker that processes the run; then is called before the effects of the step. If the
// execution has ended, then gets ErrTaskTimedOut, on any goroutine.
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

// ask delivers a signal and waits until its effect is durable.
func (r *run) ask(ctx context.Context, ev interpreter.Signal, admit func(*interpreter.Execution) error) error {
	answer := make(chan error, 1)
	r.deliverThen(ev, admit, func(err error) { answer <- err })
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return ctxerr.Of(ctx)
	case <-r.engine.ctx.Done():
		return ErrClosed
	}
}

// answerReports passes the journal's answer to the senders of the reports in this step.
func (r *run) answerReports(err error) {
	for _, a := range r.asked {
		if a.err == nil {
			a.err = err
		}
		a.answered(a.err)
	}
	r.asked = nil
}
