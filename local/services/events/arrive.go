package events

import (
	"context"
	"errors"
	"strings"

	"stepback/aws"
	"stepback/jsonvalue"
	"stepback/local/services/delivery"
	"stepback/local/services/dispatch"
	"stepback/local/services/documents"
)

// arrival is an event with the bus at which it arrives.
type arrival struct {
	bus   busKey
	event *event
}

// arrive sends events to the targets of matching rules. It returns when all events are durable.
func (s *Service) arrive(ctx context.Context, all []arrival) error {
	var letters []*dispatch.Letter
	var archived []func(*documents.Batch)
	for _, a := range all {
		rules, archives := s.active(a.bus)
		for _, r := range rules {
			if r.pattern.Match(a.event.value) {
				letters = append(letters, s.letters(r, a.event)...)
			}
		}
		if len(archives) > 0 {
			archived = append(archived, s.archived(archives, a.event)...)
		}
	}
	var also func(*documents.Batch)
	if len(archived) > 0 {
		also = func(b *documents.Batch) {
			for _, put := range archived {
				put(b)
			}
		}
	}
	if len(letters) == 0 && also == nil {
		return nil
	}
	return s.mail.Accept(ctx, letters, also)
}

// active returns the rules with which events of a bus are matched, and the bus's archives. A missing bus has none: as
// on AWS, its events are accepted and lost.
func (s *Service) active(key busKey) ([]*rule, []*archive) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if b := s.buses[key]; b != nil {
		return b.active, b.archives
	}
	if key.name != defaultBus {
		s.o.Log.Warn("an event is lost: there is no such event bus", "bus", key.name)
	}
	return nil, nil
}

// letters returns the letters for an event, one for each target of a rule.
func (s *Service) letters(r *rule, e *event) []*dispatch.Letter {
	letters := make([]*dispatch.Letter, 0, len(r.targets))
	for _, t := range r.targets {
		if e.forwarded && isBus(t.ARN) {
			s.o.Log.Warn("an event that came from another bus is not sent on to a third one", "rule", r.arn, "bus", t.ARN)
			continue
		}
		l := t.letter(r, e)
		if l == nil {
			s.o.Log.Warn("an event is not sent: the input transformer makes no JSON of it", "rule", r.arn, "target", t.ID)
			continue
		}
		l.Message.TraceHeader = e.trace
		letters = append(letters, l)
	}
	s.countMatch(r, len(letters))
	return letters
}

func isBus(arn string) bool { return strings.Contains(arn, ":event-bus/") }

// send delivers a letter to its target.
func (s *Service) send(ctx context.Context, l *dispatch.Letter) error {
	err := s.bring(ctx, l)
	if _, ok := errors.AsType[*dispatch.Later](err); !ok && ctx.Err() == nil {
		s.countAttempt(l, err)
	}
	return err
}

func (s *Service) bring(ctx context.Context, l *dispatch.Letter) error {
	bus, destination := isBus(l.To), strings.Contains(l.To, ":api-destination/")
	if bus || destination {
		if err := s.o.Targets.Allowed(ctx, l.To); err != nil {
			return err
		}
	}
	switch {
	case bus:
		return s.forward(ctx, l)
	case destination:
		return s.call(ctx, l)
	}
	return s.o.Targets.Deliver(ctx, l.To, &l.Message)
}

// forward puts an event on another bus. The event is not changed.
func (s *Service) forward(ctx context.Context, l *dispatch.Letter) error {
	key := keyOf(aws.Scope{}, l.To)
	s.mu.Lock()
	_, err := s.find(key.scope, key.name)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	v, err := jsonvalue.Parse(l.Message.Body)
	if err != nil || v.Kind() != jsonvalue.Object {
		return invalid("An event bus takes events only.")
	}
	id, _ := v.Get("id")
	return s.arrive(ctx, []arrival{{key, &event{id: id.Text(), value: v, json: l.Message.Body, ingested: s.now(),
		trace: l.Message.TraceHeader, forwarded: true}}})
}

// Deliver puts an event on the bus of an ARN; it implements delivery.Target. The event's detail is the message's
// body, a JSON object. The error is an *aws.Error.
func (s *Service) Deliver(ctx context.Context, to aws.ARN, m *delivery.Message) error {
	name, ok := strings.CutPrefix(to.Resource, "event-bus/")
	if !ok {
		return invalid("%s is not the ARN of an event bus", to)
	}
	s.mu.Lock()
	_, err := s.find(to.Scope(), name)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	detail, err := jsonvalue.Parse(m.Body)
	if err != nil || detail.Kind() != jsonvalue.Object {
		return invalid("Parameter Detail is not valid. Reason: Detail is malformed.")
	}
	if m.Source == "" || m.DetailType == "" {
		return invalid("Parameter Source is not valid. Reason: Source and DetailType are required arguments.")
	}
	now := s.now()
	e := newEvent(to.Scope(), m.Source, m.DetailType, now, m.Resources, detail)
	e.ingested, e.trace = now, m.TraceHeader
	return s.arrive(ctx, []arrival{{busKey{to.Scope(), name}, e}})
}
