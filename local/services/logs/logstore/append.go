package logstore

import (
	"errors"
	"os"
	"slices"

	"stepback/aws"
	"stepback/local/services/inventory"
)

var errClosed = errors.New("logs: closed")

// maxQueued is the maximum size of the events waiting to be written, in bytes. Beyond it, appending blocks.
const maxQueued = 16 << 20

// queue holds the batches that wait to be written.
type queue struct {
	writes         []write
	bytes          int64
	added, written int64 // total counts
	closed         bool
	signal         chan struct{}
}

// write is a batch of events for a stream. An empty batch only creates the stream.
type write struct {
	group  groupKey
	stream string
	events []Event
	owned  bool          // events belongs to the flusher, which may append to it
	done   []func(error) // called once the events are written, or not
}

// eventBytes is the memory that an event takes in addition to its message.
const eventBytes = 64

func (w *write) bytes() (sum int64) {
	for i := range w.events {
		sum += int64(len(w.events[i].Message)) + eventBytes
	}
	return sum
}

// Append adds events to a stream, which it creates if needed. It returns ErrNoGroup if the group does not exist. It
// does not wait for the disk, unless too many events are already waiting to be written. The events' Stream and
// Number are set when they are read. Use Put for events that the caller acknowledges.
func (s *Store) Append(scope aws.Scope, groupName, streamName string, events []Event) error {
	return s.add(scope, groupName, streamName, events, nil)
}

// Put is like Append, but waits until the events are written: a process that is killed afterwards does not lose them.
// The error is ErrNoGroup, or that of the write.
func (s *Store) Put(scope aws.Scope, groupName, streamName string, events []Event) error {
	written := make(chan error, 1)
	if err := s.add(scope, groupName, streamName, events, func(err error) { written <- err }); err != nil {
		return err
	}
	return <-written
}

// add adds events to a stream. done, which may be nil, is called once if add returns nil.
func (s *Store) add(scope aws.Scope, groupName, streamName string, events []Event, done func(error)) error {
	k := groupKey{scope, groupName}
	s.mu.Lock()
	g := s.groups[k]
	if g == nil || g.Deleted {
		s.mu.Unlock()
		return ErrNoGroup
	}
	now, about := s.now().UnixMilli(), g.Group
	if g.streams[streamName] == nil {
		g.streams[streamName] = newStream(g, streamName, now)
	}
	for i := range events {
		events[i].Ingestion = now
	}
	followers := s.followersOf(k)
	s.mu.Unlock()
	if s.opts.Appended != nil {
		s.opts.Appended(scope, about, events)
	}
	for _, f := range followers {
		f(groupName, streamName, events)
	}
	w := write{group: k, stream: streamName, events: events}
	if done != nil {
		w.done = append(w.done, done)
	}
	return s.enqueue(w, false)
}

// enqueue passes a batch to the flusher and, if wait is true, waits until it is written.
func (s *Store) enqueue(w write, wait bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.queue.bytes > maxQueued && !s.queue.closed {
		s.idle.Wait()
	}
	if s.queue.closed {
		return errClosed
	}
	s.queue.writes = append(s.queue.writes, w)
	s.queue.bytes += w.bytes()
	s.queue.added++
	select {
	case s.queue.signal <- struct{}{}:
	default:
	}
	for ticket := s.queue.added; wait && s.queue.written < ticket && !s.queue.closed; {
		s.idle.Wait()
	}
	return nil
}

// settle waits until everything appended so far is written.
func (s *Store) settle() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ticket := s.queue.added; s.queue.written < ticket; {
		s.idle.Wait()
	}
	if s.queue.closed {
		return errClosed
	}
	return nil
}

// flush writes queued batches until the store closes. It runs in its own goroutine.
func (s *Store) flush() {
	defer close(s.done)
	for range s.queue.signal {
		s.flushQueued()
	}
	s.flushQueued()
}

func (s *Store) flushQueued() {
	s.mu.Lock()
	writes := s.queue.writes
	s.queue.writes = nil
	s.mu.Unlock()
	for _, w := range merged(writes) {
		err := s.opts.Space.Retry(func() error { return s.carryOut(&w) })
		for _, done := range w.done {
			done(err)
		}
		if err != nil {
			s.log.Warn("log events are lost", "group", w.group.name, "stream", w.stream, "events", len(w.events),
				"error", err)
		}
	}
	s.tellDropped()
	s.mu.Lock()
	for i := range writes {
		s.queue.bytes -= writes[i].bytes()
	}
	s.queue.written += int64(len(writes))
	s.idle.Broadcast()
	s.mu.Unlock()
}

// merged combines the writes that go to the same stream.
func merged(writes []write) []write {
	type place struct {
		group  groupKey
		stream string
	}
	at := map[place]int{}
	var all []write
	for _, w := range writes {
		p := place{w.group, w.stream}
		i, ok := at[p]
		if !ok {
			at[p] = len(all)
			all = append(all, w)
			continue
		}
		if !all[i].owned { // the first slice belongs to the caller
			all[i].events, all[i].owned = slices.Clip(all[i].events), true
		}
		all[i].events = append(all[i].events, w.events...)
		all[i].done = append(slices.Clip(all[i].done), w.done...)
	}
	return all
}

// carryOut writes a batch, and removes the events that are written from it. Only the flusher modifies segments.
func (s *Store) carryOut(w *write) error {
	s.mu.Lock()
	g := s.groups[w.group]
	var st *stream
	if g != nil && !g.Deleted {
		st = g.streams[w.stream]
	}
	s.mu.Unlock()
	if st == nil {
		return nil // deleted in the meantime
	}
	for {
		n, err := s.writeSome(g, st, w.events)
		w.events = w.events[n:]
		if err != nil || len(w.events) == 0 {
			return err
		}
	}
}

// writeSome writes as many events as fit into the stream's segment, but at least one. n is the number of events
// written.
func (s *Store) writeSome(g *group, st *stream, events []Event) (n int, err error) {
	seg, err := s.segment(st)
	if err != nil {
		return 0, err
	}
	var text []byte
	for n < len(events) && (n == 0 || seg.bytes+int64(len(text)) < s.segmentBytes()) {
		if text, err = appendEvent(text, &events[n]); err != nil {
			return 0, err
		}
		n++
	}
	if err := appendFile(seg.path, text); err != nil {
		if os.Truncate(seg.path, seg.bytes) != nil { // a part of the events may be in the file
			s.mu.Lock()
			st.torn = true
			s.mu.Unlock()
		}
		return 0, err
	}
	s.mu.Lock()
	seg.bytes, seg.sum = seg.bytes+int64(len(text)), inventory.Sum(seg.sum, text)
	s.opts.Files.Note(seg.path, inventory.Entry{Length: seg.bytes, Sum: seg.sum})
	about, line := g.Group, seg.events+1
	seg.events += int64(n)
	for i := range events[:n] {
		e := &events[i]
		if seg.first == 0 {
			seg.first = e.Time
		}
		seg.first, seg.last = min(seg.first, e.Time), max(seg.last, e.Time)
		st.include(e.Time, e.Time, e.Ingestion)
	}
	gone := s.dropExcess(g, st)
	s.mu.Unlock()
	if s.opts.Written != nil && len(about.Subscriptions) > 0 {
		s.opts.Written(g.scope, about, numbered(events[:n], st.Name, seg.number, line))
	}
	return n, s.opts.Files.Remove(gone...)
}

// segmentBytes is the size at which a segment is closed and the next one started.
func (s *Store) segmentBytes() int64 { return s.opts.StreamBytes / segments }

// segment returns the segment to which events are appended. It is the last one, or a new one if the last one is
// full or may end with an incomplete line.
func (s *Store) segment(st *stream) (*segment, error) {
	number := 1
	if n := len(st.segments); n > 0 {
		last := st.segments[n-1]
		if last.bytes < s.segmentBytes() && !st.torn {
			return last, nil
		}
		number = last.number + 1
	}
	text, err := st.header()
	if err != nil {
		return nil, err
	}
	seg := &segment{path: st.path(number), number: number, bytes: int64(len(text)), sum: inventory.Sum(0, text)}
	if err := appendFile(seg.path, text); err != nil {
		return nil, errors.Join(err, s.opts.Files.Remove(seg.path)) // the file may contain half of the name
	}
	s.opts.Files.Note(seg.path, inventory.Entry{Length: seg.bytes, Sum: seg.sum})
	s.mu.Lock()
	st.segments, st.torn = append(st.segments, seg), false
	s.mu.Unlock()
	return seg, nil
}

func appendFile(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// numbered returns copies of events that start at a line of a segment, with the Stream and Number that Read would
// set.
func numbered(events []Event, stream string, segment int, line int64) []Event {
	copied := slices.Clone(events)
	for i := range copied {
		copied[i].Stream, copied[i].Number = stream, eventNumber(segment, line+int64(i))
	}
	return copied
}

// eventNumber returns the Number of the event in a line of a segment.
func eventNumber(segment int, line int64) int64 {
	const linesOfASegment = 32 // bits
	return int64(segment)<<linesOfASegment | line
}
