package clock

import (
	"testing"
	"time"
)

// TestASlowClockSleeps checks how long a clock waits for a timer that is further away in real time than a Duration
// can hold.
func TestASlowClockSleeps(t *testing.T) {
	t.Parallel()
	c := Scaled(1e-9)
	defer c.Close()
	c.Schedule(c.Now().Add(time.Hour), AlarmFunc(func() { t.Error("it rang") }))
	if due, wait := c.nextDue(); due != nil || wait != longestSleep {
		t.Errorf("it waits %v, want %v", wait, longestSleep)
	}
}

// TestATimerBehindABackgroundTimerWakesTheClock schedules, while nothing holds the clock, a timer that is later than
// a background timer.
func TestATimerBehindABackgroundTimerWakesTheClock(t *testing.T) {
	t.Parallel()
	silent := AlarmFunc(func() {})
	c := &Clock{mode: virtualTime, wake: make(chan struct{},
		1)} // its goroutine does not run, so the wake is not consumed
	c.Hold()
	c.ScheduleInBackground(c.Now().Add(time.Minute), silent)
	c.Release()
	if len(c.wake) > 0 {
		t.Error("a timer in the background alone wakes the clock")
	}
	c.Schedule(c.Now().Add(time.Hour), silent)
	if len(c.wake) == 0 {
		t.Error("the clock sleeps on, although it has a timer to jump to")
	}
}
