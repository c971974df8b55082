package engine

import "context"

// Await waits, for a task, until an execution is not under way any more, or the context ends. The caller must hold the
// clock, as a running task does; Await gives that hold up while it waits and takes it again before it returns, so that
// virtual time goes on.
func (e *Engine) Await(ctx context.Context, arn string) error {
	r := e.running(arn)
	if r == nil {
		return nil
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
	return ctx.Err()
}

// whenOver has f called once the run is over and what became of it is durable, while the clock is held for that. It
// reports false when the run is over already. What it returns takes the wish back, and reports false when f was called.
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

// tell calls those who wait for the end of the run.
func (r *run) tell() {
	r.mu.Lock()
	waiting := r.waiting
	r.waiting, r.told = nil, true
	r.mu.Unlock()
	for _, f := range waiting {
		f()
	}
}
