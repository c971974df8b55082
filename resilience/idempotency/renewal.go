package idempotency

import (
	"context"
	"errors"
	"sync"
)

// renewal extends a claim's lease every third of its duration. Until then it costs a timer, but no goroutine.
type renewal struct {
	guard      *Guard
	key, token string
	ctx        context.Context
	lost       context.CancelCauseFunc

	mu      sync.Mutex
	stopped bool
	timer   func() bool
	active  sync.WaitGroup
}

// schedule sets the timer for the next renewal.
func (r *renewal) schedule() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopped {
		r.timer = r.guard.config.Clock.AfterFunc(r.guard.config.Lease/3, r.renew)
	}
}

func (r *renewal) renew() {
	r.mu.Lock()
	if r.stopped {
		r.mu.Unlock()
		return
	}
	r.active.Add(1)
	r.mu.Unlock()
	defer r.active.Done()
	s := &r.guard.config
	ctx, cancel := context.WithTimeout(r.ctx, s.Lease/3)
	defer cancel()
	err := r.guard.store.Extend(ctx, r.key, r.token, s.Clock.Now().Add(s.Lease))
	switch {
	case errors.Is(err, ErrLeaseLost):
		r.lost(ErrLeaseLost)
		return
	case err != nil: // two more attempts fit before the lease ends
		r.guard.report(r.key, err)
	}
	r.schedule()
}

// stop ends the renewals and waits for one in progress.
func (r *renewal) stop() {
	r.mu.Lock()
	r.stopped = true
	if r.timer != nil {
		r.timer()
	}
	r.mu.Unlock()
	r.active.Wait()
}
