package logstore

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"stepback/aws"
)

// Stream describes a log stream. Times are in milliseconds since 1970, and 0 if the stream has no events.
type Stream struct {
	Name                   string
	Created                int64
	First, Last, Ingestion int64 // event times, and when the last event was received
}

// stream is a log stream and the files that hold its events.
type stream struct {
	Stream
	dir, file string
	segments  []*segment // oldest first
	// torn is true if the last file may end with an incomplete line, because an earlier process wrote it or a write
	// failed halfway.
	torn bool
	// loaded is the Number of the last event that an earlier process has written; 0 if there is none.
	loaded int64
}

func newStream(g *group, name string, created int64) *stream {
	return &stream{Stream: Stream{Name: name, Created: created}, dir: g.dir, file: nameHash(name)}
}

func (st *stream) bytes() (sum int64) {
	for _, s := range st.segments {
		sum += s.bytes
	}
	return sum
}

func (st *stream) path(number int) string {
	return filepath.Join(st.dir, st.file+"."+strconv.Itoa(number)+segmentSuffix)
}

func (st *stream) paths() []string {
	paths := make([]string, len(st.segments))
	for i, s := range st.segments {
		paths[i] = s.path
	}
	return paths
}

// include updates the stream's times with those of new events.
func (st *stream) include(first, last, ingestion int64) {
	if st.First == 0 || first < st.First {
		st.First = first
	}
	st.Last, st.Ingestion = max(st.Last, last), max(st.Ingestion, ingestion)
}

// CreateStream creates an empty log stream, or returns ErrNoGroup or ErrExists.
func (s *Store) CreateStream(scope aws.Scope, groupName, name string) error {
	s.mu.Lock()
	g := s.groups[groupKey{scope, groupName}]
	switch {
	case g == nil || g.Deleted:
		s.mu.Unlock()
		return ErrNoGroup
	case g.streams[name] != nil:
		s.mu.Unlock()
		return ErrExists
	}
	g.streams[name] = newStream(g, name, s.now().UnixMilli())
	s.mu.Unlock()
	return s.enqueue(write{group: groupKey{scope, groupName}, stream: name}, true)
}

// DeleteStream deletes a log stream, or returns ErrNoGroup or ErrNoStream.
func (s *Store) DeleteStream(scope aws.Scope, groupName, name string) error {
	if err := s.settle(); err != nil {
		return err
	}
	s.mu.Lock()
	g := s.groups[groupKey{scope, groupName}]
	if g == nil || g.Deleted {
		s.mu.Unlock()
		return ErrNoGroup
	}
	st := g.streams[name]
	if st == nil {
		s.mu.Unlock()
		return ErrNoStream
	}
	delete(g.streams, name)
	gone := st.paths()
	s.mu.Unlock()
	return s.opts.Files.Remove(gone...)
}

// Streams returns the streams of a log group whose names start with prefix, ordered by name, or ErrNoGroup.
func (s *Store) Streams(scope aws.Scope, groupName, prefix string) ([]Stream, error) {
	if err := s.settle(); err != nil && !errors.Is(err, errClosed) {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.groups[groupKey{scope, groupName}]
	if g == nil || g.Deleted {
		return nil, ErrNoGroup
	}
	var found []Stream
	for name, st := range g.streams {
		if strings.HasPrefix(name, prefix) {
			found = append(found, st.Stream)
		}
	}
	slices.SortFunc(found, func(a, b Stream) int { return strings.Compare(a.Name, b.Name) })
	return found, nil
}
