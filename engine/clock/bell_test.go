package clock_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"stepback/engine/clock"
)

// TestABellWakesBeforeTimePasses passes a turn between two pieces of work while a timer would let an hour pass at
// every gap between the ring of one and the end of the other's wait.
func TestABellWakesBeforeTimePasses(t *testing.T) {
	t.Parallel()
	c := clock.Virtual(epoch)
	defer c.Close()
	var passed sync.Once
	late := false
	c.Hold()
	c.Schedule(epoch.Add(time.Hour), clock.AlarmFunc(func() { passed.Do(func() { late = true }) }))
	mine, other := c.NewBell(), c.NewBell()
	var group sync.WaitGroup
	turns := func(await, ring *clock.Bell) {
		c.Go(t.Context(), &group, 0, func(ctx context.Context) {
			for range 2000 {
				if err := await.Await(ctx); err != nil {
					t.Error(err)
				}
				if now := c.Now(); !now.Equal(epoch) {
					t.Error("time has advanced to", now)
				}
				ring.Ring()
			}
			passed.Do(func() {}) // from here on it may
		})
	}
	turns(mine, other)
	turns(other, mine)
	mine.Ring()
	c.Release()
	group.Wait()
	if late {
		t.Error("the timer fired during the turns")
	}
}

// TestABellThatRangBefore remembers one ring, and the end of a context does not lose a ring.
func TestABellThatRangBefore(t *testing.T) {
	t.Parallel()
	c := clock.Virtual(epoch)
	defer c.Close()
	c.Hold()
	defer c.Release()
	b := c.NewBell()
	b.Ring()
	b.Ring()
	if err := b.Await(t.Context()); err != nil {
		t.Error("the first wait:", err)
	}
	cause := errors.New("enough")
	ctx, end := context.WithCancelCause(t.Context())
	end(cause)
	if err := b.Await(ctx); !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
		t.Error("the second wait:", err)
	}
	c.Schedule(epoch.Add(time.Minute), b)
	if err := b.Await(t.Context()); err != nil || !c.Now().Equal(epoch.Add(time.Minute)) {
		t.Error("the third wait:", err, c.Now())
	}
}
