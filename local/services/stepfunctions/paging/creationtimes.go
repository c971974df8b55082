package paging

import (
	"sync"
	"time"
)

// CreationTimes issues the creation times of resources. No two are equal, so a list in creation order is stable
// even if resources are created within one tick of the clock.
type CreationTimes struct {
	mu   sync.Mutex
	last time.Time
}

// Next returns now, or the first later time that it has not returned before.
func (c *CreationTimes) Next(now time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !now.After(c.last) {
		now = c.last.Add(1)
	}
	c.last = now
	return now
}
