package clock

import (
	"context"
	"time"
)

// Sleep waits until d has passed on the clock or the context ends. The caller must hold the clock (as a running task does);
// Sleep gives that hold up while it waits and takes it again before it returns.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	rang := make(chan struct{})
	t := c.Schedule(c.Now().Add(d), AlarmFunc(func() {
		c.Hold()
		close(rang)
	}))
	c.Release()
	select {
	case <-rang:
		return nil
	case <-ctx.Done():
	}
	if t.Stop() {
		c.Hold()
	} else {
		<-rang
	}
	return ctx.Err()
}

// Park waits for the end of the context. Like Sleep it gives up the caller's hold, so that virtual time goes on past a task
// that hangs.
func (c *Clock) Park(ctx context.Context) error {
	c.Release()
	<-ctx.Done()
	c.Hold()
	return ctx.Err()
}
