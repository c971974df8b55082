package logstore

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"

	"stepback/aws"
	"stepback/local/services/inventory"
)

// Read returns the events of a group with from <= time < to that were appended before the call, ordered by time.
// selects chooses the streams. It returns ErrNoGroup if the group does not exist, and an
// *inventory.DamagedError if events differ from what was written.
//
//nolint:contextcheck,nolintlint // ReadUpTo can be interrupted
func (s *Store) Read(scope aws.Scope, groupName string, selects func(stream string) bool, from, to int64) ([]Event,
	error) {
	return s.ReadUpTo(context.Background(), scope, groupName, selects, from, to, math.MaxInt)
}

// ErrTooLarge is returned by ReadUpTo if there are more events than it may return.
var ErrTooLarge = errors.New("the events are too large")

// ReadUpTo reads like Read. If the messages have more than most bytes, it returns ErrTooLarge. It ends early if ctx
// ends.
func (s *Store) ReadUpTo(ctx context.Context, scope aws.Scope, groupName string, selects func(stream string) bool, from, to int64,
	most int) ([]Event, error) {
	if err := s.settle(); err != nil && !errors.Is(err, errClosed) {
		return nil, err
	}
	parts, from, err := s.parts(scope, groupName, selects, from, to)
	if err != nil {
		return nil, err
	}
	var found []Event
	size := 0
	for _, p := range parts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		text, err := p.read()
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has just been dropped
		}
		if err == nil {
			_, err = scan(p.path, text, func(line int64, e Event) {
				if e.Time < from || e.Time >= to {
					return
				}
				if size += len(e.Message); size <= most {
					e.Stream, e.Number = p.stream, eventNumber(p.number, line)
					found = append(found, e)
				}
			})
		}
		if err != nil {
			return nil, err
		}
		if size > most {
			return nil, ErrTooLarge
		}
	}
	slices.SortFunc(found, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Number, b.Number))
	})
	return found, nil
}

// part is a segment to be read.
type part struct {
	stream, path string
	number       int
	written      inventory.Entry
	damaged      error
}

// part returns the segment as a part of a stream. The store's lock is held.
func (s *segment) part(stream string) part {
	return part{stream, s.path, s.number, inventory.Entry{Length: s.bytes, Sum: s.sum}, s.damaged}
}

// read reads the segment. The error is an *inventory.DamagedError if it differs from what was written.
func (p *part) read() ([]byte, error) {
	if p.damaged != nil {
		return nil, p.damaged
	}
	text, err := os.ReadFile(p.path)
	if err == nil {
		err = inventory.VerifyGrown(p.path, text, p.written)
	}
	return text, err
}

// parts returns the segments that may contain events between from and to, and the time before which events count as
// expired under the group's retention.
func (s *Store) parts(scope aws.Scope, groupName string, selects func(string) bool, from, to int64) ([]part, int64,
	error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.groups[groupKey{scope, groupName}]
	if g == nil || g.Deleted {
		return nil, 0, ErrNoGroup
	}
	from = max(from, g.oldest(s.now()))
	var parts []part
	for name, st := range g.streams {
		if !selects(name) {
			continue
		}
		for _, seg := range st.segments {
			if seg.last >= from && seg.first < to {
				parts = append(parts, seg.part(name))
			}
		}
	}
	return parts, from, nil
}
