package outbox

import (
	"context"
	"fmt"
	"time"

	"stepback/retry"
)

// storePolicy determines the delays with which a relay retries its store. They are those of the pattern
// database_optimized, but without a limit on the number of retries.
var storePolicy = retry.Seconds(2, 1.8, 30, 0, retry.JitterFull)

// fetch claims messages and passes them to the workers until the relay is to stop. In a Drain, it ends as soon as
// nothing is due.
func (s *session) fetch() error {
	defer close(s.idle)
	defer func() { _ = s.releaseLost() }() // otherwise its lease expires
	failures := 0
	for s.soft.Err() == nil {
		messages, bytes := s.room()
		if messages < max(1, s.cfg.Batch/8) || bytes <= 0 {
			if !s.pause(s.cfg.Poll, nil, s.freed) {
				break
			}
			continue
		}
		quiet := s.drain && s.holds() == 0
		claimed, err := s.claim(messages, bytes)
		if err != nil {
			if s.drain {
				return fmt.Errorf("claim messages: %w", err)
			}
			failures++
			if !s.pause(storePolicy.Delay(failures, s.cfg.Rand)+time.Millisecond, nil, nil) {
				break
			}
			continue
		}
		failures = 0
		s.dispatch(claimed.Messages)
		switch {
		case claimed.More:
		case quiet && len(claimed.Messages) == 0:
			return nil
		case len(claimed.Messages) > 0:
			if s.cfg.Linger > 0 {
				s.pause(s.cfg.Linger, nil, nil)
			}
		default:
			s.rest()
		}
	}
	return nil
}

// rest waits until a message may be due.
func (s *session) rest() {
	wait := s.cfg.Poll
	ctx, cancel := s.storeContext(s.soft)
	defer cancel()
	due, ok, err := s.cfg.Store.NextDue(ctx)
	if err != nil {
		s.storeFailed("find the next message", err)
	} else if ok {
		wait = max(min(wait, due), time.Millisecond)
	}
	var freed <-chan struct{}
	if s.drain {
		freed = s.freed // a drain also waits for held messages to be settled
	}
	s.pause(wait, s.wake, freed)
}

func (s *session) claim(messages, bytes int) (Claimed, error) {
	if err := s.releaseLost(); err != nil {
		return Claimed{}, err
	}
	ctx, cancel := s.storeContext(s.hard) // a claim cancelled half-way may have taken messages
	defer cancel()
	began := s.cfg.Clock.Now()
	lease := fmt.Sprintf("%s#%s-%d", s.cfg.Name, s.instance, s.claims.Add(1))
	claimed, err := s.cfg.Store.Claim(ctx, Claim{Lease: lease, For: s.cfg.Lease, Limit: messages, PerKey: s.cfg.PerKey,
		Bytes: bytes})
	if err != nil {
		s.lost, s.lostAt = lease, s.cfg.Clock.Now()
		s.storeFailed("claim messages", err)
		return claimed, err
	}
	now := s.cfg.Clock.Now()
	s.health.claimed(now)
	s.hold(claimed.Messages)
	s.cfg.Observe(Event{Kind: EventClaimed, Count: len(claimed.Messages), Took: now.Sub(began)})
	return claimed, nil
}

// releaseLost releases the messages of a claim that returned an error: the store may have claimed them although its
// response was lost. The session claims nothing else until the release has succeeded, or the lease has ended.
func (s *session) releaseLost() error {
	if s.lost == "" {
		return nil
	}
	if s.cfg.Clock.Now().Sub(s.lostAt) < s.cfg.Lease {
		ctx, cancel := s.storeContext(s.hard)
		defer cancel()
		n, err := s.cfg.Store.Release(ctx, s.lost)
		if err != nil {
			s.storeFailed("release messages", err)
			return err
		}
		if n > 0 {
			s.cfg.Log.Info("released the messages of a claim whose response was lost", "messages", n)
		}
	}
	s.lost = ""
	return nil
}

// takeOver ends the leases of an earlier relay with the same name. If that fails, they expire later.
func (s *session) takeOver(parent context.Context) error {
	if !s.cfg.TakeOver {
		return nil
	}
	ctx, cancel := s.storeContext(parent)
	defer cancel()
	n, err := s.cfg.Store.Abandon(ctx, s.cfg.Name)
	if err != nil {
		s.storeFailed("take over messages", err)
	} else if n > 0 {
		s.cfg.Log.Info("took over messages of a relay that has ended", "relay", s.cfg.Name, "messages", n)
	}
	return err
}

// storeContext returns a context that limits the duration of one call of the store.
func (s *session) storeContext(parent context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(parent, max(s.cfg.Lease/2, time.Second))
}

func (s *session) storeFailed(doing string, err error) {
	s.health.failed(s.cfg.Clock.Now(), fmt.Errorf("%s: %w", doing, err))
	if s.soft.Err() != nil {
		return
	}
	s.cfg.Log.Warn("the outbox's database failed", "doing", doing, "error", err.Error())
	s.cfg.Observe(Event{Kind: EventStoreFailed, Error: doing, Err: err})
}

// dispatch passes claimed messages to the workers. Messages with the same key stay together. The others are passed
// one by one, or in batches if the sink supports them.
func (s *session) dispatch(all []*Delivery) {
	most, bytes := 1, 0
	if b, ok := s.cfg.Sink.(BatchSink); ok {
		most, bytes = b.BatchLimits()
	}
	for len(all) > 0 {
		n := 1
		if key := all[0].Key; key != "" {
			for n < len(all) && all[n].Key == key {
				n++
			}
		} else {
			size := weight(all[0])
			for n < min(most, len(all)) && all[n].Key == "" && size+weight(all[n]) <= bytes {
				size += weight(all[n])
				n++
			}
		}
		unit := all[:n:n]
		all = all[n:]
		select {
		case s.work <- unit:
		case <-s.soft.Done():
			s.release(unit)
		}
	}
}

// weight returns the number of bytes that a message takes in a batch.
func weight(d *Delivery) int {
	n := len(d.Payload) + len(d.Topic) + len(d.Key) + len(d.TraceParent)
	for name, value := range d.Headers {
		n += len(name) + len(value)
	}
	return n
}

// release returns messages to the store without an attempt.
func (s *session) release(all []*Delivery) {
	for _, d := range all {
		s.cfg.Observe(Event{Kind: EventReleased, Delivery: d})
		s.outcomes <- released(d)
	}
}
