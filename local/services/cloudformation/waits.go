package cloudformation

import (
	"context"
	"sync"
	"time"

	"stepback/engine/clock"
)

// waits represents the waits of a phase of a deployment. They end when the deployment is given up. Virtual time does
// not advance until they have ended. The end of a context alone would let the clock jump to their own timeouts first.
type waits struct {
	clock  *clock.Clock
	ctx    context.Context // ends when the deployment is given up
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	bells map[*clock.Bell]struct{}
}

func newWaits(ctx context.Context, c *clock.Clock) *waits {
	w := &waits{clock: c, bells: map[*clock.Bell]struct{}{}}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	return w
}

// giveUp ends all waits. cause is the error of their context; only the first call's counts.
func (w *waits) giveUp(cause error) {
	w.cancel(cause)
	w.mu.Lock()
	defer w.mu.Unlock()
	for b := range w.bells {
		b.Ring()
	}
}

// ring lets giveUp ring a bell, at once if the deployment has been given up, until stop is called.
func (w *waits) ring(b *clock.Bell) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bells[b] = struct{}{}
	if w.ctx.Err() != nil {
		b.Ring()
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.bells, b)
	}
}

// sleep waits for d on the clock. The error is ctx's, or the cause if the deployment is given up. The owner of ctx
// holds the clock; sleep releases that hold while it waits.
func (w *waits) sleep(ctx context.Context, d time.Duration) error {
	b := w.clock.NewBell()
	defer w.ring(b)()
	end := w.clock.Now().Add(d)
	defer w.clock.Schedule(end, b).Stop()
	for {
		if cause := context.Cause(w.ctx); cause != nil { //nolint:contextcheck // it says why
			return cause
		}
		if !w.clock.Now().Before(end) {
			return nil
		}
		if err := b.Await(ctx); err != nil {
			return err
		}
	}
}
