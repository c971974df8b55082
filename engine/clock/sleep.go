package clock

import (
	"context"
	"time"
)

// Sleep waits until d has passed on the clock or the context ends. The caller must hold the clock (as a running task
// does); Sleep gives that hold up while it waits and takes it again before it returns.
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
	return ctx.Err()
}

// Park waits for the end of the context. Like Sleep it gives up the caller's hold, so that virtual time goes on past a
// task that hangs.
func (c *Clock) Park(ctx context.Context) error {
	resume := c.Yield(ctx)
	<-ctx.Done()
	resume()
	return ctx.Err()
}
