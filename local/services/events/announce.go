package events

import (
	"time"

	"stepback/aws"
	"stepback/jsonvalue"
)

// Announcement is an event of one of the platform's services, whose source may begin with "aws".
type Announcement struct {
	Scope              aws.Scope
	Source, DetailType string
	At                 time.Time
	Resources          []string
	Detail             jsonvalue.Value
}

// Listens reports whether the default bus of an account and region has an active rule or an archive, so that
// announcing an event makes sense.
func (s *Service) Listens(scope aws.Scope) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	b := s.buses[busKey{scope, defaultBus}]
	return b != nil && len(b.active)+len(b.archives) > 0
}

// maxAnnounced is the maximum number of announced events that are not on the bus yet.
const maxAnnounced = 100_000

// Announce puts events on the default bus, in the order of the calls, without waiting. As on AWS, events of
// services are delivered on a best-effort basis: beyond maxAnnounced they are lost, which is logged. Close waits for
// the announced events.
func (s *Service) Announce(all ...Announcement) {
	arrivals := make([]arrival, len(all))
	for i, a := range all {
		e := newEvent(a.Scope, a.Source, a.DetailType, a.At, a.Resources, a.Detail)
		e.ingested = s.now()
		arrivals[i] = arrival{busKey{a.Scope, defaultBus}, e}
	}
	s.announcing.Lock()
	defer s.announcing.Unlock()
	if s.silent {
		return
	}
	if len(s.announced)+len(arrivals) > maxAnnounced {
		s.o.Log.Error("events of services are lost: too many wait for the bus", "events", len(arrivals))
		return
	}
	if s.announced = append(s.announced, arrivals...); s.announcer || len(s.announced) == 0 {
		return
	}
	s.announcer = true
	s.o.Clock.Hold()
	s.work.Go(s.announce)
}

// announce sends announced events until there are no more.
func (s *Service) announce() {
	defer s.o.Clock.Release()
	for {
		s.announcing.Lock()
		all := s.announced
		s.announced = nil
		if len(all) == 0 {
			s.announcer = false
			s.announcing.Unlock()
			return
		}
		s.announcing.Unlock()
		if err := s.arrive(s.ctx, all); err != nil {
			s.o.Log.Error("events of services are lost", "events", len(all), "error", err.Error())
		}
	}
}
