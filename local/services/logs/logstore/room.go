package logstore

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// DroppedStream is the name of a stream that records which events of a group's other streams were dropped to make
// space for newer ones. A group has it once events have been dropped.
const DroppedStream = "stepback/dropped"

// dropped identifies the stream from which events were dropped, and the reason.
type dropped struct {
	group  *group
	stream string
	why    string
}

// lost counts dropped events.
type lost struct{ events, bytes int64 }

// dropExcess drops the events of a group that exceed its limits or its retention, after the group has been written
// to. It returns the files to remove. The caller holds the lock. Events removed because of the retention are not
// recorded in DroppedStream.
func (s *Store) dropExcess(g *group, written *stream) (gone []string) {
	for len(written.segments) > 1 && written.bytes() > s.opts.StreamBytes {
		gone = append(gone, s.drop(g, written, written.segments[:1],
			fmt.Sprintf("a stream keeps %d bytes, the newest", s.opts.StreamBytes))...)
		written.segments = written.segments[1:]
	}
	oldest := g.oldest(s.now())
	for _, st := range g.streams {
		for len(st.segments) > 1 && st.segments[0].last < oldest {
			gone = append(gone, st.segments[0].path)
			st.segments = st.segments[1:]
		}
	}
	for g.bytes() > s.opts.GroupBytes {
		st := g.stalest(written)
		if st == nil {
			break
		}
		gone = append(gone, s.drop(g, st, st.segments,
			fmt.Sprintf("a group keeps %d bytes, those of the streams that were written to last", s.opts.GroupBytes))...)
		delete(g.streams, st.Name)
	}
	return gone
}

// drop removes segments from a stream, records that in dropped, and returns the segments' files.
func (s *Store) drop(g *group, st *stream, segments []*segment, why string) (files []string) {
	if s.dropped == nil {
		s.dropped = map[dropped]*lost{}
	}
	at := dropped{g, st.Name, why}
	if s.dropped[at] == nil {
		s.dropped[at] = &lost{}
	}
	for _, seg := range segments {
		s.dropped[at].events += seg.events
		s.dropped[at].bytes += seg.bytes
		files = append(files, seg.path)
	}
	return files
}

// tellDropped records the events dropped since the last call in the groups concerned, with one log event per
// stream.
func (s *Store) tellDropped() {
	s.mu.Lock()
	all := s.dropped
	s.dropped = nil
	now := s.now().UnixMilli()
	s.mu.Unlock()
	byStream := func(a, b dropped) int { return cmp.Compare(a.stream, b.stream) }
	for _, at := range slices.SortedFunc(maps.Keys(all), byStream) {
		n := all[at]
		s.log.Warn("log events have been dropped", "group", at.group.Name, "stream", at.stream, "events", n.events,
			"bytes", n.bytes, "why", at.why)
		if at.stream == DroppedStream {
			continue
		}
		s.mu.Lock()
		st := at.group.streams[DroppedStream]
		if st == nil {
			st = newStream(at.group, DroppedStream, now)
			at.group.streams[DroppedStream] = st
		}
		deleted := at.group.Deleted
		s.mu.Unlock()
		if deleted {
			continue
		}
		message := fmt.Sprintf("%d events (%d bytes) of the stream %s were dropped: %s", n.events, n.bytes, at.stream, at.why)
		if _, err := s.writeSome(at.group, st, []Event{{Time: now, Ingestion: now, Message: message}}); err != nil {
			s.log.Warn("a note of dropped log events is lost", "group", at.group.Name, "error", err)
		}
	}
}

// stalest returns the stream whose last event is the oldest, except other and DroppedStream; nil if no such stream
// has events.
func (g *group) stalest(other *stream) *stream {
	var found *stream
	for _, st := range g.streams {
		if st != other && st.Name != DroppedStream && len(st.segments) > 0 && (found == nil || st.Last < found.Last) {
			found = st
		}
	}
	return found
}
