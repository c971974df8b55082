package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"stepback/retry"
)

// settle records outcomes, all waiting ones in one transaction, and meanwhile extends the leases of held messages.
// One goroutine does both, so that they do not wait for each other's locks.
func (s *session) settle() {
	var waiting []Settlement
	extend := s.cfg.Lease / 3
	rang, stop := s.cfg.Clock.Timer(extend)
	defer func() { stop() }()
	for {
		select {
		case o := <-s.outcomes:
			waiting = s.gather(append(waiting[:0], o))
			s.record(waiting)
		case <-rang:
			s.extend()
			stop()
			rang, stop = s.cfg.Clock.Timer(extend)
		case <-s.over:
			for waiting = s.gather(waiting[:0]); len(waiting) > 0; waiting = s.gather(waiting[:0]) {
				s.record(waiting)
			}
			return
		}
	}
}

// gather adds the outcomes that are already waiting to all.
func (s *session) gather(all []Settlement) []Settlement {
	for len(all) < 2*s.cfg.Batch {
		select {
		case o := <-s.outcomes:
			all = append(all, o)
		default:
			return all
		}
	}
	return all
}

// record retries until the store has recorded the outcomes. If the store refuses outcomes permanently, record
// passes them one by one; the one at fault stays unrecorded until its lease expires. When the relay stops, record
// retries only until the grace is over.
func (s *session) record(all []Settlement) {
	defer s.let(all)
	var limit <-chan time.Time
	for failures := 1; ; failures++ {
		err := s.recordOnce(all)
		s.mu.Lock()
		s.settled = err
		s.mu.Unlock()
		if err == nil {
			return
		}
		s.storeFailed("record outcomes", err)
		if refused(err) {
			s.recordSingly(all)
			return
		}
		stopping := s.soft.Done()
		if s.soft.Err() != nil && limit == nil {
			var stop func()
			limit, stop = s.cfg.Clock.Timer(s.cfg.Grace)
			defer stop()
		}
		if limit != nil {
			stopping = nil
		}
		again, stop := s.cfg.Clock.Timer(storePolicy.Delay(failures, s.cfg.Rand) + time.Millisecond)
		select {
		case <-again:
		case <-stopping:
		case <-limit:
			stop()
			return
		}
		stop()
	}
}

func (s *session) recordOnce(all []Settlement) error {
	ctx, cancel := s.storeContext(context.WithoutCancel(s.hard))
	defer cancel()
	began := s.cfg.Clock.Now()
	n, err := s.cfg.Store.Settle(ctx, all)
	if err != nil {
		return err
	}
	if lost := len(all) - n; lost > 0 {
		s.cfg.Log.Warn(
			"leases ended before the outcomes were recorded; the messages are sent again under the same IDs",
			"count",
			lost,
		)
	}
	s.cfg.Observe(Event{Kind: EventSettled, Count: n, Lost: len(all) - n, Took: s.cfg.Clock.Now().Sub(began)})
	for i := range all {
		if all[i].Key != "" || all[i].Status != Sent {
			poke(s.wake) // the key may continue, or a retry be due before the relay would look again
			break
		}
	}
	return nil
}

func (s *session) recordSingly(all []Settlement) {
	for i := range all {
		if err := s.recordOnce(all[i : i+1]); err != nil {
			s.cfg.Log.Error("an outcome cannot be recorded; the message is sent again when its lease ends", "seq",
				all[i].Seq, "error", err.Error())
		}
	}
}

// refused reports whether a database has refused its input permanently.
func refused(err error) bool {
	c, ok := retry.Classify(err)
	return ok && c.Class == retry.Permanent && c.Error == retry.DatabaseConstraintViolation
}

// extend extends the leases of all held messages.
func (s *session) extend() {
	s.mu.Lock()
	all := make([]Held, 0, len(s.held))
	for seq, h := range s.held {
		all = append(all, Held{seq, h.lease})
	}
	s.mu.Unlock()
	if len(all) == 0 {
		return
	}
	ctx, cancel := s.storeContext(context.WithoutCancel(s.hard))
	defer cancel()
	if err := s.cfg.Store.Extend(ctx, all, s.cfg.Lease); err != nil {
		s.storeFailed("extend leases", err)
	}
}

// unsettled returns the error of outcomes that could not be recorded before the relay stopped.
func (s *session) unsettled() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settled == nil || errors.Is(s.settled, context.Canceled) {
		return nil
	}
	return fmt.Errorf(
		"the last outcomes were not recorded, and their messages will be sent again under the same IDs: %w", s.settled)
}
