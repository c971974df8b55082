package outbox

import "time"

// Clock measures the time that a relay waits. It is used only for durations; times of day come from the store.
type Clock interface {
	Now() time.Time
	// Timer sends on the channel once d has passed. stop releases the timer's resources; it may be called at any
	// time.
	Timer(d time.Duration) (rang <-chan time.Time, stop func())
}

// SystemClock is the system's clock.
type SystemClock struct{}

// Now implements Clock.
func (SystemClock) Now() time.Time { return time.Now() }

// Timer implements Clock.
func (SystemClock) Timer(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}
