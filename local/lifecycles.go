package local

import (
	"context"
	"sync"
	"time"

	"stepback/engine/clock"
)

const (
	// expireEvery is the interval at which the lifecycles of buckets are applied.
	expireEvery = time.Hour
	// deliverLogsEvery is the interval at which access logs of buckets are delivered.
	deliverLogsEvery = 5 * time.Minute
)

// expire removes expired objects once an hour, and delivers the access logs of buckets every five minutes and when the
// platform closes.
func (p *Platform) expire(context.Context) error {
	deliver := func() { //nolint:contextcheck // notifications live as long as the platform
		if err := p.Objects.DeliverLogs(); err != nil {
			p.cfg.Log.Error("access logs of buckets could not be delivered", "error", err)
		}
	}
	p.onClose(func() error {
		deliver()
		return nil
	})
	p.regularly(deliverLogsEvery, deliver)
	p.regularly(expireEvery, func() { //nolint:contextcheck // notifications live as long as the platform
		if err := p.Objects.Expire(p.Clock.Now()); err != nil {
			p.cfg.Log.Error("lifecycle rules of buckets could not be applied", "error", err)
		}
	})
	return nil
}

// regularly calls work at an interval of the platform's clock until the platform closes. Virtual time does not jump
// ahead to trigger it, and does not advance while it runs.
func (p *Platform) regularly(interval time.Duration, work func()) {
	var mu sync.Mutex
	var working sync.WaitGroup
	var timer *clock.Timer
	closed := false
	var ring func()
	schedule := func() {
		timer = p.Clock.ScheduleInBackground(p.Clock.Now().Add(interval), clock.AlarmFunc(func() { ring() }))
	}
	ring = func() {
		mu.Lock()
		defer mu.Unlock()
		if closed {
			return
		}
		p.Clock.Hold()
		working.Go(func() {
			defer p.Clock.Release()
			work()
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
}
