package clock_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"stepback/engine/clock"
)

// rings schedules timers and returns the virtual times at which they fired, since the epoch.
func rings(c *clock.Clock, after ...time.Duration) <-chan time.Duration {
	rang := make(chan time.Duration, len(after))
	for _, d := range after {
		c.Schedule(epoch.Add(d), clock.AlarmFunc(func() { rang <- c.Now().Sub(epoch) }))
	}
	return rang
}

// TestWorkThatHangsLosesItsHold: if work takes longer than its patience, time continues without it.
func TestWorkThatHangsLosesItsHold(t *testing.T) {
	t.Parallel()
	c := clock.Virtual(epoch)
	defer c.Close()
	c.Hold()
	_, w := c.Begin(t.Context(), time.Millisecond)
	lost := make(chan time.Time, 2)
	w.WhenLost(func() { lost <- c.Now() })
	rang := rings(c, time.Hour)
	c.Release()
	if at := <-rang; at != time.Hour {
		t.Errorf("rang after %v", at)
	}
	if at := <-lost; !at.Equal(epoch) || len(lost) > 0 {
		t.Errorf("lost at %v", at)
	}
	w.End()
	c.Hold() // no hold may be left over or released twice
	rang = rings(c, 2*time.Hour)
	c.Release()
	<-rang
}

// TestWorkHoldsTheClock tests unlimited patience, and patience that is not used up.
func TestWorkHoldsTheClock(t *testing.T) {
	t.Parallel()
	for _, patience := range []time.Duration{0, time.Hour} {
		c := clock.Virtual(epoch)
		ctx, w := c.Begin(t.Context(), patience)
		if !clock.IsHolding(ctx) || clock.IsHolding(t.Context()) {
			t.Error("the context does not tell whose it is")
		}
		rang := rings(c, time.Minute)
		select {
		case <-rang:
			t.Errorf("with patience of %v time went on", patience)
		default:
		}
		w.End()
		<-rang
		w.End() // has no effect
		c.Close()
	}
}

// TestWorkIsHeardOfAgain: work loses its hold and then waits; afterwards it has its hold again.
func TestWorkIsHeardOfAgain(t *testing.T) {
	t.Parallel()
	c := clock.Virtual(epoch)
	defer c.Close()
	ctx, w := c.Begin(t.Context(), time.Millisecond)
	defer w.End()
	<-rings(c, time.Second) // the hold is lost
	if err := c.Sleep(ctx, time.Minute); err != nil {
		t.Fatal(err)
	}
	if now := c.Now().Sub(epoch); now != time.Second+time.Minute {
		t.Errorf("now %v", now)
	}
	<-rings(c, time.Hour) // and again
}

// TestManyThatWaitAndHang runs work that sleeps, parks and hangs concurrently, each for a different time.
func TestManyThatWaitAndHang(t *testing.T) {
	t.Parallel()
	c := clock.Virtual(epoch)
	defer c.Close()
	parked, end := context.WithCancel(t.Context())
	stop := make(chan struct{})
	var all sync.WaitGroup
	c.Hold()
	for i := range 30 {
		parent, patience := t.Context(), time.Duration(0)
		switch i % 3 {
		case 1:
			parent = parked
		case 2:
			patience = time.Millisecond
		}
		ctx, w := c.Begin(parent, patience)
		all.Go(func() {
			defer w.End()
			switch i % 3 {
			case 0:
				for range 10 {
					_ = c.Sleep(ctx, time.Minute) // it does not return early
				}
			case 1:
				_ = c.Park(ctx) // returns when its context ends
			case 2:
				<-stop
			}
		})
	}
	c.Schedule(epoch.Add(time.Hour), clock.AlarmFunc(func() { end(); close(stop) }))
	c.Release()
	all.Wait()
	if now := c.Now().Sub(epoch); now != time.Hour {
		t.Errorf("now %v", now)
	}
}

func TestRealTimeNeedsNoHold(t *testing.T) {
	t.Parallel()
	c := clock.Real()
	defer c.Close()
	ctx, w := c.Begin(t.Context(), time.Nanosecond)
	if w != nil || clock.IsHolding(ctx) {
		t.Error("real time is held")
	}
	w.End()
}
