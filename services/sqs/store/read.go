package store

import (
	"encoding/binary"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"stepback/services/sqs/queue"
)

// Body is the contents of a message; nil when they are not there.
func (s *Store) Body(number uint64) ([]byte, error) {
	db, err := s.reading()
	if err != nil || db == nil {
		return nil, err
	}
	value, closer, err := db.Get(key(bodyKey, number))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	return append([]byte{}, value...), nil
}

// Next is the number below which all have been given out.
func (s *Store) Next() (next uint64, err error) {
	err = s.each([]byte{nextKey}, func(_, value []byte) error {
		if len(value) == 8 {
			next = binary.BigEndian.Uint64(value)
		}
		return nil
	})
	return next, err
}

// Queues reads the records of all queues.
func (s *Store) Queues(read func(id uint64, record []byte) error) error {
	return s.each([]byte{queueKey}, func(k, value []byte) error { return read(number(k, 0), value) })
}

// Moves reads the records of all tasks that move messages.
func (s *Store) Moves(read func(id uint64, record []byte) error) error {
	return s.each([]byte{moveKey}, func(k, value []byte) error { return read(number(k, 0), value) })
}

// Messages reads the states of all messages, those of a queue in their order.
func (s *Store) Messages(read func(queueID uint64, m *queue.Message)) error {
	share := map[string]string{}
	return s.each([]byte{stateKey}, func(k, value []byte) error {
		m, err := readState(value, number(k, 1), share)
		if err == nil {
			read(number(k, 0), m)
		}
		return err
	})
}

// Duplicates reads the deduplication keys of all queues, in no order.
func (s *Store) Duplicates(read func(queueID uint64, name string, at int64, seq uint64)) error {
	return s.each([]byte{duplicates}, func(k, value []byte) error {
		if len(value) != 16 {
			return errState
		}
		read(number(k, 0), string(k[9:]), int64(binary.BigEndian.Uint64(value)), binary.BigEndian.Uint64(value[8:]))
		return nil
	})
}

// number is the i-th number of a key.
func number(k []byte, i int) uint64 { return binary.BigEndian.Uint64(k[1+8*i:]) }

func (s *Store) each(prefix []byte, read func(key, value []byte) error) error {
	db, err := s.reading()
	if err != nil || db == nil {
		return err
	}
	it, err := db.NewIter(bounds(prefix))
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		if err := read(it.Key(), it.Value()); err != nil {
			return errors.Join(err, it.Close())
		}
	}
	return errors.Join(it.Error(), it.Close())
}
