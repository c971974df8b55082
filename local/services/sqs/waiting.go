package sqs

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"stepback/engine/clock"
)

// waiter is a poll that waits for messages.
type waiter struct {
	clock *clock.Clock
	queue *live
	until int64 // when it looks again by itself
	woken atomic.Bool
	up    chan struct{}
}

// pollNow is a poll that does not wait.
var pollNow = &waiter{}

// Ring implements clock.Alarm.
func (w *waiter) Ring() { w.wake() }

// wake ends the wait. Virtual time stands still until the poll goes on. It reports false when the wait had ended.
func (w *waiter) wake() bool {
	if !w.woken.CompareAndSwap(false, true) {
		return false
	}
	w.clock.Hold()
	close(w.up)
	return true
}

// enlist adds a poll to those that wait for a queue, until the deadline or until a hidden message becomes visible. mu
// is held.
func (s *Service) enlist(now int64, q *live, deadline int64) *waiter {
	w := &waiter{clock: s.clock, queue: q, until: deadline, up: make(chan struct{})}
	if next, ok := q.queue.Next(now); ok {
		w.until = min(w.until, next)
	}
	q.waiting = append(q.waiting, w)
	return w
}

// wake has up to n polls of a queue look again. mu is held.
func (s *Service) wake(q *live, n int) {
	for n > 0 && len(q.waiting) > 0 {
		w := q.waiting[0]
		q.waiting = q.waiting[1:]
		if w.wake() {
			n--
		}
	}
}

// await waits until a poll is woken. The error is ctx's.
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
		s.wake(w.queue, 1) // what woke this one, or what it waited for, is for another
	}
	s.mu.Unlock()
	if err == nil || !w.woken.CompareAndSwap(false, true) {
		<-w.up // by now it is held
		s.clock.Release()
	}
	return err
}

// StopPolls has polls that wait, and those that come later, be answered at once with what there is.
func (s *Service) StopPolls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	for _, q := range s.queues {
		s.wake(q, len(q.waiting))
	}
}
