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
