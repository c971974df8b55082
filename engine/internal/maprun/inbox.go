package maprun

import (
	"context"
	"sync"

	"stepback/engine/clock"
	"stepback/engine/journal"
)

// inbox collects the children that have ended. Each of them holds the clock; take passes that hold to its caller.
type inbox struct {
	mu     sync.Mutex
	ends   []*journal.Execution
	woken  bool // there is capacity to start children again, which holds the clock, too
	closed bool
	signal chan struct{}
}

func (b *inbox) put(c *clock.Clock, x *journal.Execution) {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return
	}
	c.Hold()
	b.ends = append(b.ends, x)
	b.mu.Unlock()
	b.poke()
}

// wake wakes the waiting goroutine because it can start children again.
func (b *inbox) wake(c *clock.Clock) {
	b.mu.Lock()
	if b.closed || b.woken {
		b.mu.Unlock()
		return
	}
	c.Hold()
	b.woken = true
	b.mu.Unlock()
	b.poke()
}

// close discards the ends that nothing takes any more.
func (b *inbox) close(c *clock.Clock) {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.take(c)
}

// poke wakes the waiting goroutine, so that it checks the inbox again.
func (b *inbox) poke() {
	select {
	case b.signal <- struct{}{}:
	default:
	}
}

func (b *inbox) empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.ends) == 0 && !b.woken
}

// take removes and returns the collected ends. From then on the caller holds the clock for them.
func (b *inbox) take(c *clock.Clock) []*journal.Execution {
	b.mu.Lock()
	ends, woken := b.ends, b.woken
	b.ends, b.woken = nil, false
	b.mu.Unlock()
	if woken {
		c.Release()
	}
	for range ends {
		c.Release()
	}
	return ends
}

// wait waits for an end, for the engine to close, or, unless the run is already stopping, for the Map Run to be
// cancelled.
func (b *inbox) wait(ctx, closing context.Context, stopping bool) error {
	cancelled := ctx.Done()
	if stopping {
		cancelled = nil
	}
	select {
	case <-b.signal:
		return nil
	case <-closing.Done():
		return closing.Err()
	case <-cancelled:
		return ctx.Err()
	}
}
