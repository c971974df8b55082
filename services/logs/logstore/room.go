package logstore

// makeRoom drops what is too much or too old in a group that has just been written to, and returns the files to remove.
// The caller holds the lock.
func (s *Store) makeRoom(g *group, written *stream) (gone []string) {
	for len(written.segments) > 1 && written.bytes() > s.opts.StreamBytes {
		gone = append(gone, written.segments[0].path)
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
		gone = append(gone, st.paths()...)
		delete(g.streams, st.Name)
	}
	return gone
}

// stalest is the stream, other than one, whose last event is the oldest; nil when there is none with events.
func (g *group) stalest(other *stream) *stream {
	var found *stream
	for _, st := range g.streams {
		if st != other && len(st.segments) > 0 && (found == nil || st.Last < found.Last) {
			found = st
		}
	}
	return found
}
