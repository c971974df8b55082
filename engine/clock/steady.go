package clock

import (
	"sync/atomic"
	"time"
)

// steady is the system time, except that it never goes back. If the system's time was set back, it is the latest
// time that the system showed plus the time elapsed since then.
type steady struct {
	// read returns the system time, in nanoseconds since 1970, and the time elapsed since some fixed instant. The
	// elapsed time is not affected if the system time is set.
	read  func() (wall, passed int64)
	ahead atomic.Int64 // the largest difference wall - passed so far
}

func (s *steady) now() time.Time {
	wall, passed := s.read()
	for {
		ahead := s.ahead.Load()
		if wall-passed <= ahead {
			return time.Unix(0, passed+ahead).UTC()
		}
		if s.ahead.CompareAndSwap(ahead, wall-passed) {
			return time.Unix(0, wall).UTC()
		}
	}
}

// sinceNow returns a function that reads the system's wall clock and monotonic clock.
func sinceNow() func() (wall, passed int64) {
	start := time.Now()
	return func() (int64, int64) {
		now := time.Now()
		return now.UnixNano(), int64(now.Sub(start))
	}
}
