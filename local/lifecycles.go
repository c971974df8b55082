package local

import (
	"context"
	"sync"
	"time"

	"stepback/engine/clock"
)

// expireEvery is the interval at which the lifecycles of buckets are applied.
const expireEvery = time.Hour

// expire removes expired objects once an hour on the platform's clock. Virtual time does not jump ahead to trigger
// it.
func (p *Platform) expire(context.Context) error {
	var mu sync.Mutex
	var working sync.WaitGroup
	var timer *clock.Timer
	closed := false
	var ring func()
	schedule := func() {
		timer = p.Clock.ScheduleInBackground(p.Clock.Now().Add(expireEvery), clock.AlarmFunc(func() { ring() }))
	}
	ring = func() { //nolint:contextcheck // notifications live as long as the platform
		mu.Lock()
		defer mu.Unlock()
		if closed {
			return
		}
		working.Go(func() {
			if err := p.Objects.Expire(p.Clock.Now()); err != nil {
				p.cfg.Log.Error("lifecycle rules of buckets could not be applied", "error", err)
			}
		})
		schedule()
	}
	mu.Lock()
	defer mu.Unlock()
	schedule()
	p.onClose(func() error {
		mu.Lock()
		closed = true
		timer.Stop()
		mu.Unlock()
		working.Wait()
		return nil
	})
	return nil
}
