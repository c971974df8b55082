package dynamodb

import (
	"encoding/binary"
	"errors"
	"time"

	"stepback/local/services/documents"
	"stepback/local/services/dynamodb/item"
)

// Change is a stream record for a consumer in this process.
type Change struct {
	// Number is the record's position in the stream. Sequence is the same position as the API's sequence number.
	Number   uint64
	Sequence string
	ID       string
	// Name is INSERT, MODIFY or REMOVE. Expired is true if time to live removed the item.
	Name    string
	Expired bool
	At      time.Time
	Region  string
	// Keys, New and Old are set if the stream's view type includes them; nil otherwise.
	Keys, New, Old item.Item
	Bytes          int
	View           string
}

// Position returns a position in a stream and the name of the stream's shard: the position of the first record, or,
// if latest is true, of the next record to be written. The error is an *aws.Error.
func (s *Service) Position(stream string, latest bool) (place uint64, shard string, err error) {
	st, err := s.stream(stream)
	if err != nil {
		return 0, "", err
	}
	if !latest {
		return st.number, st.shard(), nil
	}
	s.mu.RLock()
	place = s.next
	s.mu.RUnlock()
	// The position is stored elsewhere: the reservation of its number must not be lost, or records would get numbers
	// before it.
	return place, st.shard(), s.waitForVisible()
}

// Changes reads records of a stream from a position. It returns no more than most records and about maxBytes, but
// at least one record; next is the position after them. Records older than a day are left out. The error is an
// *aws.Error or comes from the disk.
func (s *Service) Changes(stream string, from uint64, most, maxBytes int) (changes []Change, next uint64, err error) {
	st, err := s.stream(stream)
	if err != nil {
		return nil, from, err
	}
	next = from
	bytes, before := 0, s.clock.Now().Add(-streamLife).UnixMilli()
	prefix := key(recordKey, st.number)
	read := func(k, value []byte) error {
		if len(changes) == most || bytes >= maxBytes {
			return errEnough
		}
		n := binary.BigEndian.Uint64(k[len(prefix):])
		if len(value) >= 8 && int64(binary.BigEndian.Uint64(value)) <= before {
			next = n + 1
			return nil
		}
		r, err := st.decode(n, value)
		if err != nil {
			return err
		}
		next = n + 1
		bytes += r.Change.Bytes
		changes = append(changes, Change{Number: n, Sequence: r.Change.Sequence, ID: r.ID, Name: r.Name,
			Expired: r.Identity != nil, At: time.Time(r.Change.At), Region: r.Region, Keys: r.Change.Keys,
			New: r.Change.New, Old: r.Change.Old, Bytes: r.Change.Bytes, View: r.Change.View})
		return nil
	}
	err = s.store.Range(key(recordKey, st.number, from), documents.After(prefix), false, read)
	if err != nil && !errors.Is(err, errEnough) {
		return nil, from, err
	}
	return changes, next, s.waitForVisible()
}

// Follow registers ring. When a stream has new records, ring is called before the request that caused them is
// answered; it must be quick and must not call the service. Calling end removes ring. The error is an *aws.Error.
func (s *Service) Follow(stream string, ring func()) (end func(), err error) {
	st, err := s.stream(stream)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.follows == nil {
		s.follows = map[uint64]map[uint64]func(){}
	}
	if s.follows[st.number] == nil {
		s.follows[st.number] = map[uint64]func(){}
	}
	s.lastFollow++
	own := s.lastFollow
	s.follows[st.number][own] = ring
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.follows[st.number], own)
		if len(s.follows[st.number]) == 0 {
			delete(s.follows, st.number)
		}
	}, nil
}

// followers returns the functions to call for new records in the streams. The caller holds mu.
func (s *Service) followers(streams []uint64) (rings []func()) {
	if len(s.follows) == 0 {
		return nil
	}
	told := map[uint64]bool{}
	for _, number := range streams {
		if told[number] {
			continue
		}
		told[number] = true
		for _, ring := range s.follows[number] {
			rings = append(rings, ring)
		}
	}
	return rings
}
