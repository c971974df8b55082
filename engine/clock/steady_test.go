package clock

import (
	"testing"
	"time"
)

// TestRealTimeNeverGoesBack sets the system clock back and forward while time passes.
func TestRealTimeNeverGoesBack(t *testing.T) {
	t.Parallel()
	epoch := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var set, passed time.Duration
	s := steady{read: func() (int64, int64) { return epoch.Add(passed + set).UnixNano(), int64(passed) }}
	for _, step := range []struct {
		name              string
		sets, passes, now time.Duration
	}{
		{"at first", 0, 0, 0},
		{"a second later", 0, time.Second, time.Second},
		{"set back by an hour", -time.Hour, 0, time.Second},
		{"a minute later", 0, time.Minute, time.Minute + time.Second},
		{"set right again", time.Hour, 0, time.Minute + time.Second},
		{"set forward by a day", 24 * time.Hour, 0, 24*time.Hour + time.Minute + time.Second},
		{"and back, a second later", -24 * time.Hour, time.Second, 24*time.Hour + time.Minute + 2*time.Second},
	} {
		set, passed = set+step.sets, passed+step.passes
		if got := s.now().Sub(epoch); got != step.now {
			t.Errorf("%s it is %v after the beginning, want %v", step.name, got, step.now)
		}
	}
}

// TestAWaitOverAClockThatIsSet runs a timer while the system clock is set back, and forward.
func TestAWaitOverAClockThatIsSet(t *testing.T) {
	t.Parallel()
	epoch := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var set, passed time.Duration
	c := &Clock{scale: 1, wake: make(chan struct{}, 1), quit: make(chan struct{})}
	c.steady.read = func() (int64, int64) { return epoch.Add(passed + set).UnixNano(), int64(passed) }
	c.Schedule(c.Now().Add(10*time.Minute), AlarmFunc(func() {}))
	for _, step := range []struct {
		name         string
		sets, passes time.Duration
		due          bool
	}{
		{"halfway", 0, 5 * time.Minute, false},
		{"set back by an hour", -time.Hour, 0, false},
		{"nearly", 0, 5*time.Minute - time.Second, false},
		{"when the time has passed", 0, time.Second, true},
	} {
		set, passed = set+step.sets, passed+step.passes
		if due, sleep := c.nextDue(); (due != nil) != step.due || !step.due && (sleep <= 0 || sleep > longestSleep) {
			t.Errorf("%s: due %v, sleeps for %v", step.name, due != nil, sleep)
		}
	}
	c.Schedule(c.Now().Add(10*time.Minute), AlarmFunc(func() {}))
	set += 2 * time.Hour // an hour more than it was set back before
	if due, _ := c.nextDue(); due == nil {
		t.Error("a clock that is set forward over a timer does not ring it")
	}
}
