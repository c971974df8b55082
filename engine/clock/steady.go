package clock

import (
	"sync/atomic"
	"time"
)

// steady is the machine's time without its steps back: what the machine says, or what it said at most before and the
// time that has passed since.
type steady struct {
	// read tells the machine's time, in nanoseconds since 1970, and how much time has passed since some fixed instant,
	// which nobody can set.
	read  func() (wall, passed int64)
	ahead atomic.Int64 // the most that wall has been ahead of passed
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

// sinceNow reads the machine's two clocks.
func sinceNow() func() (wall, passed int64) {
	start := time.Now()
	return func() (int64, int64) {
		now := time.Now()
		return now.UnixNano(), int64(now.Sub(start))
	}
}
