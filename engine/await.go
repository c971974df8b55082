package engine

import (
	"context"

	"stepback/internal/ctxerr"
)

// Await waits, on behalf of a task, until an execution has ended or ctx ends. The caller must hold the clock, as a
// running task does. Await releases that hold while it waits, so that virtual time can pass, and takes it again
// before it returns.
func (e *Engine) Await(ctx context.Context, arn string) error {
	r, err := e.find(ctx, arn)
	if r == nil || err != nil {
		return err
	}
	ended := make(chan struct{})
	forget, ok := r.whenOver(func() {
		e.clock.Hold()
		close(ended)
	})
	if !ok {
		return r.err
	}
	resume := e.clock.Yield(ctx)
	select {
	case <-ended:
		resume()
		e.clock.Release()
		return r.err
	case <-ctx.Done():
	}
	resume()
	if !forget() {
		<-ended
		e.clock.Release()
	}
	return ctxerr.Of(ctx)
}

// whenOver registers f, which is called once the run has ended and its result is durable. The clock is held during
// the call. ok is false if the run has already ended. forget unregisters f, and returns false if f has already been
// called.
func (r *run) whenOver(f func()) (forget func() bool, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.told {
		return nil, false
	}
	if r.waiting == nil {
		r.waiting = map[int]func(){}
	}
	id := r.nextWaiting
	r.nextWaiting++
	r.waiting[id] = f
	return func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		_, there := r.waiting[id]
		delete(r.waiting, id)
		return there
	}, true
}

// notifyWaiters calls the functions registered for the end of the run.
func (r *run) notifyWaiters() {
	r.mu.Lock()
	waiting := r.waiting
	r.waiting, r.told = nil, true
	r.mu.Unlock()
	for _, f := range waiting {
		f()
	}
}
