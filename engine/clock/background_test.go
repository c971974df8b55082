package clock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"stepback/engine/clock"
)

// TestABackgroundTimerThatIsDueFires: another timer has advanced the time to it, and its alarm held the clock.
func TestABackgroundTimerThatIsDueFires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		c := clock.Virtual(begin)
		defer c.Close()
		fired := false
		c.Hold()
		c.Schedule(begin.Add(time.Minute), clock.AlarmFunc(c.Hold))
		c.ScheduleInBackground(begin.Add(time.Minute), clock.AlarmFunc(func() { fired = true }))
		c.Release()
		synctest.Wait() // the first alarm holds the clock
		c.Release()
		synctest.Wait()
		if !fired || !c.Now().Equal(begin.Add(time.Minute)) {
			t.Errorf("fired: %v, at %s", fired, c.Now())
		}
	})
}

// TestATimerAfterItsPatience stands still for the patience, in real time, and not longer. One that is stopped in time
// does not advance anything.
func TestATimerAfterItsPatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		c := clock.Virtual(begin)
		defer c.Close()
		fired := 0
		ring := clock.AlarmFunc(func() { fired++ })
		c.ScheduleAfterPatience(begin.Add(time.Hour), 30*time.Second, ring)
		stopped := c.ScheduleAfterPatience(begin.Add(time.Minute), 30*time.Second, ring)
		<-time.After(29 * time.Second) //nolint:forbidigo // virtual time
		synctest.Wait()
		if fired != 0 || !c.Now().Equal(begin) || !stopped.Stop() {
			t.Errorf("within the patience: fired %d times, at %s", fired, c.Now())
		}
		<-time.After(2 * time.Second) //nolint:forbidigo // virtual time
		synctest.Wait()
		if fired != 1 || !c.Now().Equal(begin.Add(time.Hour)) {
			t.Errorf("after it: fired %d times, at %s", fired, c.Now())
		}
		c.ScheduleAfterPatience(begin.Add(3*time.Hour), 30*time.Second, ring)
		c.Schedule(begin.Add(2*time.Hour), ring)
		c.ScheduleAfterPatience(begin.Add(2*time.Hour), 30*time.Second, ring) // due with the other one
		synctest.Wait()
		if fired != 3 || !c.Now().Equal(begin.Add(2*time.Hour)) {
			t.Errorf("beside another timer: fired %d times, at %s", fired, c.Now())
		}
	})
}
