package events

import (
	"strconv"
	"time"

	"stepback/engine/clock"
	"stepback/jsonvalue"
	"stepback/local/services/documents"
)

// lateness limits how old a scheduled time may be that passed while no process was running. Only the latest missed
// time is made up for.
const lateness = 24 * time.Hour

// plan sets a timer for the rule's next scheduled time. The timer does not advance virtual time, which would
// otherwise never stop. mu is held.
func (s *Service) plan(r *rule) {
	if r.schedule == nil || r.State == disabled || s.closed {
		return
	}
	now := s.now()
	last := max(r.fired, r.From)
	after := time.UnixMilli(last)
	if oldest := now.Add(-lateness); after.Before(oldest) {
		after = oldest
	}
	from := time.UnixMilli(r.From)
	next, ok := r.schedule.Next(after, from)
	for ok && !next.After(now) { // keep only the latest missed time
		later, more := r.schedule.Next(next, from)
		if !more || later.After(now) {
			break
		}
		next = later
	}
	if ok {
		r.timer = s.o.Clock.ScheduleInBackground(next, clock.AlarmFunc(func() { s.fire(r, next) }))
	}
}

// unplan stops the timer. mu is held.
func (r *rule) unplan() {
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
}

// fire sends a scheduled event to the targets of a rule.
func (s *Service) fire(r *rule, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buses[busKey{r.scope(), r.Bus}]
	if s.closed || b == nil || b.rules[r.Name] != r {
		return
	}
	s.o.Clock.Hold()
	s.work.Go(func() {
		defer s.o.Clock.Release()
		e := newEvent(r.scope(), "aws.events", "Scheduled Event", at, []string{r.arn}, jsonvalue.NewObject(0).Value())
		e.ingested = s.now()
		err := s.mail.Accept(s.ctx, s.letters(r, e), func(b *documents.Batch) {
			b.Put(s.table, r.firedKey(), strconv.AppendInt(nil, at.UnixMilli(), 10))
		})
		if err != nil {
			s.o.Log.Error("a scheduled event is sent when the data directory is opened again", "rule", r.arn, "error", err.Error())
		}
		s.fired(r, at)
	})
}

// fired records that the rule ran at a time and plans the next one.
func (s *Service) fired(r *rule, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buses[busKey{r.scope(), r.Bus}]
	if b == nil || b.rules[r.Name] != r {
		return
	}
	r.fired = at.UnixMilli()
	s.plan(r)
}
