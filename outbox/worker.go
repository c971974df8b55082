package outbox

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"stepback/retry"
)

// slack is the time that a sink may take to return after its context has ended.
const slack = time.Second

// worker is a goroutine that sends messages.
type worker struct {
	mu    sync.Mutex
	unit  []*Delivery // messages being sent now and, for one key, those to be sent after them; nil between sends
	first int         // number of them being sent: 1, or all
	since time.Time
	lost  bool // its sink did not return in time; its messages were settled without it
}

// employ starts a worker.
func (s *session) employ() {
	w := &worker{}
	s.mu.Lock()
	s.all = append(s.all, w)
	s.mu.Unlock()
	s.workers.Go(func() {
		defer s.dismiss(w)
		for unit := range s.work {
			if !s.deliver(w, unit) {
				return
			}
		}
	})
}

func (s *session) dismiss(w *worker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.all {
		if other == w {
			s.all[i] = s.all[len(s.all)-1]
			s.all = s.all[:len(s.all)-1]
			return
		}
	}
	s.overruns-- // it had been removed from the list
}

// deliver sends messages that belong together. It returns false if the worker was lost meanwhile.
func (s *session) deliver(w *worker, unit []*Delivery) bool {
	unit = s.sendable(unit)
	if len(unit) > 1 && unit[0].Key == "" {
		return s.deliverBatch(w, unit)
	}
	for i, d := range unit {
		if s.soft.Err() != nil {
			s.release(unit[i:])
			return true
		}
		began := s.cfg.Clock.Now()
		w.begin(unit[i:], 1, began)
		err := s.send(d)
		if !w.end() {
			return false
		}
		if settled := s.conclude(d, err, s.cfg.Clock.Now().Sub(began)); settled.Status != Sent &&
			settled.Status != Dead {
			s.release(unit[i+1:]) // the rest of the key waits
			return true
		}
	}
	return true
}

func (s *session) deliverBatch(w *worker, unit []*Delivery) bool {
	if s.soft.Err() != nil {
		s.release(unit)
		return true
	}
	began := s.cfg.Clock.Now()
	w.begin(unit, len(unit), began)
	errs := s.sendBatch(unit)
	if !w.end() {
		return false
	}
	if refusedTogether(errs) {
		for _, d := range unit { // one of them may be at fault
			if !s.deliver(w, []*Delivery{d}) {
				return false
			}
		}
		return true
	}
	took := s.cfg.Clock.Now().Sub(began)
	for i, d := range unit {
		var err error
		if errs != nil {
			err = errs[i]
		}
		s.conclude(d, err, took)
	}
	return true
}

// refusedTogether reports whether every message of a batch was refused permanently.
func refusedTogether(errs []error) bool {
	for _, err := range errs {
		if err == nil || FailureOf(err).Class != retry.Permanent {
			return false
		}
	}
	return len(errs) > 1
}

// sendable settles messages that must not be sent at all, and returns the others.
func (s *session) sendable(unit []*Delivery) []*Delivery {
	good := unit[:0]
	for _, d := range unit {
		if o, dead := s.expired(d); dead {
			s.report(d, o)
			continue
		}
		if err := s.checked(d); err != nil {
			s.report(d, s.judge(d, err))
			continue
		}
		good = append(good, d)
	}
	return good
}

func (s *session) checked(d *Delivery) (err error) {
	defer recovered("the check of messages", &err)
	return s.cfg.Check(&d.Message)
}

func (s *session) send(d *Delivery) (err error) {
	defer recovered("the sink", &err)
	ctx, cancel := context.WithTimeout(s.hard, s.cfg.SendTimeout)
	defer cancel()
	return s.cfg.Sink.Send(ctx, &d.Message)
}

func (s *session) sendBatch(unit []*Delivery) (errs []error) {
	all := make([]*Message, len(unit))
	for i, d := range unit {
		all[i] = &d.Message
	}
	err := func() (err error) {
		defer recovered("the sink", &err)
		ctx, cancel := context.WithTimeout(s.hard, s.cfg.SendTimeout)
		defer cancel()
		errs = s.cfg.Sink.(BatchSink).SendBatch(ctx, all)
		if errs != nil && len(errs) != len(all) {
			return fmt.Errorf("the sink returned outcomes for %d of %d messages", len(errs), len(all))
		}
		return nil
	}()
	if err != nil {
		errs = make([]error, len(all))
		for i := range errs {
			errs[i] = err
		}
	}
	return errs
}

// recovered turns a panic into an error, so that a bug in a sink fails one message and not the relay.
func recovered(who string, err *error) {
	if p := recover(); p != nil {
		*err = &Failure{
			Name: retry.RuntimeExitError, Class: retry.UnknownOutcome,
			Err: fmt.Errorf("%s panicked: %v\n%s", who, p, debug.Stack()),
		}
	}
}

// conclude returns the settlement of an attempt.
func (s *session) conclude(d *Delivery, err error, took time.Duration) Settlement {
	var o Settlement
	switch {
	case err == nil:
		o = sent(d)
		s.counts.sent.Add(1)
		s.cfg.Observe(Event{Kind: EventSent, Delivery: d, Took: took})
		s.outcomes <- o
		return o
	case s.hard.Err() != nil && errors.Is(err, context.Canceled):
		o = released(d) // the relay itself cancelled it
	default:
		o = s.judge(d, err)
	}
	s.report(d, o)
	return o
}

// report settles a message that was not sent.
func (s *session) report(d *Delivery, o Settlement) {
	switch o.Status {
	case Failed:
		s.counts.failed.Add(1)
		s.cfg.Log.Info("a message will be retried", "id", d.ID, "topic", d.Topic, "error", o.Error, "cause", o.Cause,
			"retry", d.Retries+1, "after", o.After.String())
		s.cfg.Observe(Event{Kind: EventRetry, Delivery: d, Error: o.Error, After: o.After})
	case Dead:
		s.counts.dead.Add(1)
		s.cfg.Log.Error("a message became a dead letter", "id", d.ID, "topic", d.Topic, "reason", o.Reason, "error",
			o.Error, "cause", o.Cause)
		s.cfg.Observe(Event{Kind: EventDead, Delivery: d, Error: o.Error, Reason: o.Reason})
	default:
		s.cfg.Observe(Event{Kind: EventReleased, Delivery: d})
	}
	s.outcomes <- o
}

func (w *worker) begin(unit []*Delivery, first int, now time.Time) {
	w.mu.Lock()
	w.unit, w.first, w.since = unit, first, now
	w.mu.Unlock()
}

// end takes the messages off the worker. It returns false if the worker was given up meanwhile.
func (w *worker) end() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unit = nil
	return !w.lost
}

// lose gives up a worker that has been in the sink since before the given time, and returns its messages. It
// returns nil for any other worker.
func (w *worker) lose(before time.Time) (unit []*Delivery, first int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.unit == nil || w.lost || w.since.After(before) {
		return nil, 0
	}
	w.lost = true
	return w.unit, w.first
}
