package clock

import (
	"context"
	"time"

	"stepback/internal/ctxerr"
)

// Sleep waits until d has passed on the clock or ctx ends. The caller must hold the clock, as a running task does.
// Sleep releases that hold while it waits, and takes it again before it returns.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	rang := make(chan struct{})
	t := c.Schedule(c.Now().Add(d), AlarmFunc(func() {
		c.Hold()
		close(rang)
	}))
	resume := c.Yield(ctx)
	select {
	case <-rang:
		resume()
		c.Release()
		return nil
	case <-ctx.Done():
	}
	resume()
	if !t.Stop() {
		<-rang
		c.Release()
	}
	return ctxerr.Of(ctx)
}

// Park waits until ctx ends. Like Sleep, it releases the caller's hold while it waits, so that virtual time passes
// while a task hangs.
func (c *Clock) Park(ctx context.Context) error {
	resume := c.Yield(ctx)
	<-ctx.Done()
	resume()
	return ctxerr.Of(ctx)
}
