package clock

import (
	"context"
	"sync"

	"stepback/internal/ctxerr"
)

// Bell wakes one piece of work that waits for an event. From the ring until that work has resumed, virtual time does
// not advance. A bell that rings while nothing waits is remembered: the next wait returns at once. Rings that are
// remembered count as one.
type Bell struct {
	clock *Clock
	up    chan struct{} // has capacity for one

	mu            sync.Mutex
	waiting, rung bool
}

// NewBell returns a bell that has not rung.
func (c *Clock) NewBell() *Bell { return &Bell{clock: c, up: make(chan struct{}, 1)} }

// Ring wakes the work that waits. It implements Alarm. It does not block.
func (b *Bell) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.waiting {
		b.rung = true
		return
	}
	b.waiting = false
	b.clock.Hold()
	b.up <- struct{}{}
}

// Await waits until the bell rings or ctx ends. The caller must hold the clock, as a running task does. Await releases
// that hold while it waits, and takes it again before it returns. Only one caller may wait at a time. The error is
// ctx's.
func (b *Bell) Await(ctx context.Context) error {
	b.mu.Lock()
	if b.rung {
		b.rung = false
		b.mu.Unlock()
		return ctxerr.Of(ctx)
	}
	b.waiting = true
	b.mu.Unlock()
	resume := b.clock.Yield(ctx)
	select {
	case <-b.up:
		resume()
		b.clock.Release()
		return nil
	case <-ctx.Done():
	}
	resume()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.waiting { // it rang in the meantime
		<-b.up
		b.clock.Release()
	}
	b.waiting = false
	return ctxerr.Of(ctx)
}
