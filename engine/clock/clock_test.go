package clock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"stepback/engine/clock"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func ExampleVirtual() {
	c := clock.Virtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	defer c.Close()
	rang := make(chan time.Time)
	c.Schedule(c.Now().Add(5*time.Minute), clock.AlarmFunc(func() { rang <- c.Now() }))
	fmt.Println((<-rang).Format(time.TimeOnly))
	// Output: 00:05:00
}

func TestVirtualTimersRingInOrder(t *testing.T) {
	t.Parallel()
	c := clock.Virtual(epoch)
	defer c.Close()
	var order []string
	done := make(chan struct{})
	ring := func(name string) clock.Alarm {
		return clock.AlarmFunc(func() {
			order = append(order, fmt.Sprint(name, " ", c.Now().Sub(epoch)))
			if name == "last" {
				close(done)
			}
		})
	}
	c.Hold()
	c.Schedule(epoch.Add(3*time.Second), ring("last"))
	c.Schedule(epoch.Add(time.Second), ring("a"))
	c.Schedule(epoch.Add(time.Second), ring("b"))
	gone := c.Schedule(epoch.Add(2*time.Second), ring("stopped"))
	if !gone.Stop() || gone.Stop() {
		t.Error("Stop must report true once")
	}
	c.Release()
	<-done
	if want := []string{"a 1s", "b 1s", "last 3s"}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}

func TestVirtualTimeStandsStillWhileHeld(t *testing.T) {
	t.Parallel()
	c := clock.Virtual(epoch)
	defer c.Close()
	c.Hold()
	rang := make(chan struct{})
	c.Schedule(epoch.Add(time.Hour), clock.AlarmFunc(func() { close(rang) }))
	if now := c.Now(); !now.Equal(epoch) {
		t.Errorf("time moved to %v under a hold", now)
	}
	select {
	case <-rang:
		t.Error("the timer rang under a hold")
	default:
	}
	c.Release()
	<-rang
	if now := c.Now(); !now.Equal(epoch.Add(time.Hour)) {
		t.Errorf("now %v", now)
	}
}

func TestSleepAndPark(t *testing.T) {
	t.Parallel()
	c := clock.Virtual(epoch)
	defer c.Close()
	ctx, cancel := context.WithCancel(context.Background())
	c.Hold() // on behalf of the sleeper
	c.Hold() // on behalf of the parked goroutine
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		defer c.Release()
		if err := c.Park(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Park: %v", err)
		}
	}()
	go func() {
		defer wg.Done()
		defer c.Release()
		if err := c.Sleep(ctx, 24*time.Hour); err != nil {
			t.Errorf("Sleep: %v", err)
		}
		cancel()
	}()
	wg.Wait()
	if now := c.Now(); !now.Equal(epoch.Add(24 * time.Hour)) {
		t.Errorf("now %v", now)
	}
}

func TestSleepEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for _, c := range []*clock.Clock{clock.Real(), clock.Scaled(1000)} {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := c.Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
			t.Errorf("Sleep: %v", err)
		}
		c.Close()
	}
}

func TestScaledTimeRunsFaster(t *testing.T) {
	t.Parallel()
	c := clock.Scaled(1e6)
	defer c.Close()
	rang := make(chan struct{})
	c.Schedule(c.Now().Add(time.Minute), clock.AlarmFunc(func() { close(rang) }))
	<-rang
}

func TestCloseSilencesTimers(t *testing.T) {
	t.Parallel()
	c := clock.Virtual(epoch)
	c.Hold()
	c.Schedule(epoch, clock.AlarmFunc(func() { t.Error("rang after Close") }))
	c.Close()
	c.Release()
	c.Close()
}

func BenchmarkScheduleAndStop(b *testing.B) {
	c := clock.Real()
	defer c.Close()
	at := c.Now().Add(time.Hour)
	a := clock.AlarmFunc(func() {})
	b.ReportAllocs()
	for b.Loop() {
		c.Schedule(at, a).Stop()
	}
}

func TestVirtualTimeDoesNotJumpToTheBackground(t *testing.T) {
	t.Parallel()
	c := clock.Virtual(epoch)
	defer c.Close()
	rang := make(chan time.Duration, 3)
	ring := clock.AlarmFunc(func() { rang <- c.Now().Sub(epoch) })
	c.ScheduleInBackground(epoch.Add(time.Hour), ring)
	c.ScheduleInBackground(epoch.Add(3*time.Hour), ring)
	gone := c.ScheduleInBackground(epoch.Add(time.Minute), ring)
	if !gone.Stop() {
		t.Error("a timer in the background cannot be stopped")
	}
	c.Hold()
	c.Release()
	if now := c.Now(); !now.Equal(epoch) {
		t.Fatalf("time jumped to %v", now)
	}
	c.Schedule(epoch.Add(2*time.Hour), ring)
	if first, second := <-rang, <-rang; first != time.Hour || second != 2*time.Hour {
		t.Errorf("timers rang after %v and %v, want 1h and 2h", first, second)
	}
	c.ScheduleInBackground(epoch, ring) // due now
	if third := <-rang; third != 2*time.Hour {
		t.Errorf("a timer that was due rang after %v", third)
	}
}
