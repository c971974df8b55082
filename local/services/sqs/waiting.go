package sqs

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"stepback/engine/clock"
)

// waiter is a poll that is waiting for messages.
type waiter struct {
	clock *clock.Clock
	queue *live
	until int64 // when it checks again without being woken
	woken atomic.Bool
	up    chan struct{}
}

// pollNow represents a poll that does not wait.
var pollNow = &waiter{}

// Ring implements clock.Alarm.
func (w *waiter) Ring() { w.wake() }

// wake ends the wait and holds virtual time until the poll resumes. It returns false if the wait had already ended.
func (w *waiter) wake() bool {
	if !w.woken.CompareAndSwap(false, true) {
		return false
	}
	w.clock.Hold()
	close(w.up)
	return true
}

// enlist adds a poll to those waiting for a queue, until the deadline or until a hidden message becomes visible. mu
// is held.
func (s *Service) enlist(now int64, q *live, deadline int64) *waiter {
	w := &waiter{clock: s.clock, queue: q, until: deadline, up: make(chan struct{})}
	if next, ok := q.queue.Next(now); ok {
		w.until = min(w.until, next)
	}
	q.waiting = append(q.waiting, w)
	return w
}

// wake makes up to n polls of a queue check again. mu is held.
func (s *Service) wake(q *live, n int) {
	for n > 0 && len(q.waiting) > 0 {
		w := q.waiting[0]
		q.waiting = q.waiting[1:]
		if w.wake() {
			n--
		}
	}
}

// await waits until the poll w is woken or ctx ends. It returns ctx's error.
func (s *Service) await(ctx context.Context, w *waiter) error {
	resume := func() {}
	var timer *clock.Timer
	if w.until != forever {
		timer = s.clock.Schedule(time.UnixMilli(w.until), w)
	}
	if clock.IsHolding(ctx) {
		resume = s.clock.Yield(ctx)
	}
	var err error
	select {
	case <-w.up:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if timer != nil {
		timer.Stop()
	}
	resume()
	s.mu.Lock()
	if i := slices.Index(w.queue.waiting, w); i >= 0 {
		w.queue.waiting = slices.Delete(w.queue.waiting, i, i+1)
	}
	if err != nil {
		s.wake(w.queue, 1) // pass the wake-up on to another poll
	}
	s.mu.Unlock()
	if err == nil || !w.woken.CompareAndSwap(false, true) {
		<-w.up // the clock is held by now
		s.clock.Release()
	}
	return err
}

// StopPolls makes all waiting and future polls return at once with the messages that are available.
func (s *Service) StopPolls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	for _, q := range s.queues {
		s.wake(q, len(q.waiting))
	}
}
