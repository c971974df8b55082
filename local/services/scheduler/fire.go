package scheduler

import (
	"hash/fnv"
	"strconv"
	"time"

	"stepback/engine/clock"
	"stepback/local/services/dispatch"
	"stepback/local/services/documents"
	"stepback/local/services/schedule"
)

// lateness limits how old a time of a recurring schedule may be that passed while no process was running. Only the
// latest missed time is made up for. A missed time of a one-time schedule is made up for at any age.
const lateness = 24 * time.Hour

// from returns the time at which the schedule starts.
func (e *entry) from() time.Time { return time.UnixMilli(max(e.Start, e.Modified)) }

// next returns the first time of the schedule after a time. ok is false if the schedule is complete. first is true
// for the schedule's first time, which for a rate is its start.
func (e *entry) next(after time.Time, first bool) (at time.Time, ok bool) {
	from := e.from()
	switch {
	case schedule.Once(e.schedule):
		return e.schedule.Next(after, from)
	case schedule.Steps(e.schedule) && first && !after.After(from):
		at, ok = from, true
	case after.Before(from):
		at, ok = e.schedule.Next(from.Add(-time.Nanosecond), from)
	default:
		at, ok = e.schedule.Next(after, from)
	}
	return at, ok && (e.End == 0 || at.UnixMilli() < e.End)
}

// plan sets a timer for the next time of a schedule. The timer of a one-time schedule advances virtual time. The
// timer of a recurring schedule does not, because virtual time would never stop. mu is held.
func (s *Service) plan(e *entry) {
	if e.State == disabled || s.closed {
		return
	}
	now := s.now()
	after := time.UnixMilli(max(e.fired, e.Modified))
	once := schedule.Once(e.schedule)
	if oldest := now.Add(-lateness); !once && after.Before(oldest) {
		after = oldest
	}
	at, ok := e.next(after, e.fired == 0)
	for ok && !once && !at.After(now) { // keep only the latest missed time
		later, more := e.next(at, false)
		if !more || later.After(now) {
			break
		}
		at = later
	}
	if !ok {
		s.complete(e)
		return
	}
	ring := clock.AlarmFunc(func() { s.fire(e, at) })
	when := at.Add(e.shift(at))
	if once {
		e.timer = s.o.Clock.Schedule(when, ring)
	} else {
		e.timer = s.o.Clock.ScheduleInBackground(when, ring)
	}
}

// shift returns the delay, within the flexible window, of a time of the schedule. The same time always gives the
// same delay.
func (e *entry) shift(at time.Time) time.Duration {
	if e.Window == 0 {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(e.arn + at.UTC().Format(time.RFC3339))) // cannot fail
	return time.Duration(h.Sum64()%uint64(e.Window*60)) * time.Second
}

// unplan stops the timer. mu is held.
func (e *entry) unplan() {
	if e.timer != nil {
		e.timer.Stop()
		e.timer = nil
	}
}

// current reports whether a schedule is still in effect, neither replaced nor deleted. mu is held.
func (s *Service) current(e *entry) bool {
	g := s.groups[groupKey{e.scope(), e.Group}]
	return !s.closed && g != nil && g.schedules[e.Name] == e
}

// fire calls the target.
func (s *Service) fire(e *entry, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.current(e) {
		return
	}
	s.o.Clock.Hold()
	s.work.Go(func() {
		defer s.o.Clock.Release()
		err := s.mail.Accept(s.ctx, []*dispatch.Letter{e.letter(at)}, func(b *documents.Batch) {
			b.Put(s.table, e.firedKey(), strconv.AppendInt(nil, at.UnixMilli(), 10))
		})
		if err != nil {
			s.o.Log.Error("a schedule's target is called later", "schedule", e.arn, "error", err.Error())
			s.postpone(e, at)
			return
		}
		s.fired(e, at)
	})
}

// postponement is the wait before a target is called again whose call could not be stored, or for which too many wait.
const postponement = time.Minute

// postpone calls the target for a time of the schedule later.
func (s *Service) postpone(e *entry, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current(e) {
		e.timer = s.o.Clock.ScheduleInBackground(s.now().Add(postponement), clock.AlarmFunc(func() { s.fire(e, at) }))
	}
}

// fired records that the schedule ran at a time and plans the next one.
func (s *Service) fired(e *entry, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current(e) {
		e.fired = at.UnixMilli()
		s.plan(e)
	}
}

// complete deletes a schedule that has no more times, if its ActionAfterCompletion is DELETE. mu is held.
func (s *Service) complete(e *entry) {
	if e.fired == 0 || e.Action != "DELETE" {
		return
	}
	delete(s.groups[groupKey{e.scope(), e.Group}].schedules, e.Name)
	if err := s.o.Store.Write(func(b *documents.Batch) error {
		b.Delete(s.table, e.key())
		b.Delete(s.table, e.firedKey())
		return nil
	}); err != nil {
		s.o.Log.Error("a completed schedule is not deleted", "schedule", e.arn, "error", err.Error())
	}
}
