package outbox

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"stepback/retry"
)

// watch looks for workers that are stuck in the sink although their context has ended, and replaces them.
func (s *session) watch() {
	for {
		rang, stop := s.cfg.Clock.Timer(slack)
		select {
		case <-rang:
		case <-s.idle:
			stop()
			return
		}
		s.replaceLost(s.cfg.Clock.Now().Add(-s.cfg.SendTimeout - slack))
	}
}

func (s *session) replaceLost(before time.Time) {
	s.mu.Lock()
	all := slices.Clone(s.all)
	s.mu.Unlock()
	for _, w := range all {
		if !s.giveUp(w, before) {
			continue
		}
		s.mu.Lock()
		// so that a sink which never returns does not fill the process with goroutines
		spare := s.overruns <= s.cfg.Concurrency
		s.mu.Unlock()
		if spare {
			s.employ()
		} else {
			s.cfg.Log.Error("the sink does not return from its sends: the relay has one worker less", "left behind",
				s.cfg.Concurrency)
		}
	}
}

// giveUp gives up a worker that has been in the sink since before the given time, and settles its messages. It
// returns false if the worker is not stuck.
func (s *session) giveUp(w *worker, before time.Time) bool {
	unit, first := w.lose(before)
	if unit == nil {
		return false
	}
	s.mu.Lock()
	s.overruns++
	s.all = slices.DeleteFunc(s.all, func(other *worker) bool { return other == w })
	s.mu.Unlock()
	hangs := &Failure{
		Name: retry.TimeoutError, Class: retry.UnknownOutcome,
		Err: fmt.Errorf("the sink returned neither within %s nor when its context ended", s.cfg.SendTimeout),
	}
	for _, d := range unit[:first] {
		s.cfg.Observe(Event{Kind: EventOverrun, Delivery: d})
		s.report(d, s.judge(d, hangs))
	}
	s.release(unit[first:])
	return true
}

// abandonAll gives up every worker that is still in the sink, and returns how many workers have been given up.
func (s *session) abandonAll() int {
	s.mu.Lock()
	all := slices.Clone(s.all)
	n := s.overruns
	s.mu.Unlock()
	for _, w := range all {
		unit, _ := w.lose(s.cfg.Clock.Now())
		if unit == nil {
			continue
		}
		n++
		s.mu.Lock()
		s.overruns++
		s.all = slices.DeleteFunc(s.all, func(other *worker) bool { return other == w })
		s.mu.Unlock()
		s.release(unit)
	}
	return n
}

// tidy periodically deletes messages whose retention has ended.
func (s *session) tidy() {
	const atOnce, mendRounds = 1000, 60
	for round := 0; ; round++ {
		var longest time.Duration // set only in some rounds: the check reads all delayed messages
		if round%mendRounds == 0 {
			longest = s.longest()
		}
		for s.soft.Err() == nil {
			ctx, cancel := s.storeContext(s.soft)
			done, err := s.cfg.Store.Tidy(ctx, Tidy{Retention: s.cfg.Retention, Longest: longest, Limit: atOnce})
			cancel()
			if err != nil {
				s.storeFailed("delete old messages", err)
				break
			}
			if done.Mended > 0 {
				s.cfg.Log.Warn("messages that had waited too long were made due", "count", done.Mended)
				poke(s.wake)
			}
			if done.Deleted > 0 {
				s.cfg.Observe(Event{Kind: EventDeleted, Count: done.Deleted})
			}
			if done.Deleted < atOnce {
				break
			}
		}
		rang, stop := s.cfg.Clock.Timer(s.cfg.TidyEvery)
		select {
		case <-rang:
		case <-s.idle:
			stop()
			return
		}
	}
}

// longest returns the longest time for which a relay like this one delays a message.
func (s *session) longest() time.Duration {
	return max(s.cfg.Lease, longestRetryAfter) + time.Minute
}

// listen lets the store wake this relay, and restarts listening when it fails.
func (s *session) listen() {
	failures := 0
	for s.soft.Err() == nil {
		began := s.cfg.Clock.Now()
		err := s.cfg.Store.Listen(s.soft, func() { poke(s.wake) })
		if s.soft.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("the listener stopped")
		}
		s.storeFailed("listen for messages", err)
		if s.cfg.Clock.Now().Sub(began) > storePolicy.MaxDelay {
			failures = 0
		}
		failures++
		s.pause(storePolicy.Delay(failures, s.cfg.Rand)+time.Millisecond, nil, nil)
	}
}
