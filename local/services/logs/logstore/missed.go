package logstore

import (
	"errors"
	"io/fs"

	"stepback/aws"
	"stepback/local/services/inventory"
)

// Subscribed calls read for the streams of the groups with subscriptions, with the events that earlier processes have
// written, those of a segment at a time, in order of arrival. after returns the Number of the last event of a stream
// that need not be read. Events that this process writes are passed to Options.Written instead.
func (s *Store) Subscribed(after func(scope aws.Scope, g Group, stream string) int64,
	read func(scope aws.Scope, g Group, events []Event),
) error {
	for _, p := range s.subscribedStreams() {
		first := after(p.scope, p.group, p.stream)
		for _, seg := range p.segments {
			if eventNumber(seg.number+1, 0) <= first {
				continue
			}
			text, err := seg.read()
			if damaged := (*inventory.DamagedError)(nil); errors.As(err, &damaged) || errors.Is(err, fs.ErrNotExist) {
				continue // which is in the log, or has just been dropped
			}
			var events []Event
			if err == nil {
				_, err = scan(seg.path, text, func(line int64, e Event) {
					e.Stream, e.Number = p.stream, eventNumber(seg.number, line)
					if e.Number > first && e.Number <= p.loaded {
						events = append(events, e)
					}
				})
			}
			if err != nil {
				return err
			}
			if len(events) > 0 {
				read(p.scope, p.group, events)
			}
		}
	}
	return nil
}

// subscribedStream is a stream of a group with subscriptions, and the segments with events of earlier processes.
type subscribedStream struct {
	scope    aws.Scope
	group    Group
	stream   string
	loaded   int64 // Number of the last event of an earlier process
	segments []part
}

func (s *Store) subscribedStreams() []subscribedStream {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []subscribedStream
	for _, g := range s.groups {
		if g.Deleted || len(g.Subscriptions) == 0 {
			continue
		}
		for name, st := range g.streams {
			p := subscribedStream{scope: g.scope, group: g.Group, stream: name, loaded: st.loaded}
			for _, seg := range st.segments {
				if eventNumber(seg.number, 0) <= st.loaded {
					p.segments = append(p.segments, seg.part(name))
				}
			}
			all = append(all, p)
		}
	}
	return all
}
