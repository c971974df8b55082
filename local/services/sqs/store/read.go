package store

import (
	"encoding/binary"

	"stepback/local/services/sqs/queue"
)

// Body returns the contents of a message, or nil if they do not exist.
func (s *Store) Body(number uint64) ([]byte, error) {
	value, _, err := s.documents.Get(key(bodyKey, number))
	return value, err
}

// Next returns the upper bound that PutNext stored.
func (s *Store) Next() (next uint64, err error) {
	err = s.documents.Each([]byte{nextKey}, func(_, value []byte) error {
		if len(value) == 8 {
			next = binary.BigEndian.Uint64(value)
		}
		return nil
	})
	return next, err
}

// Queues reads the records of all queues.
func (s *Store) Queues(read func(id uint64, record []byte) error) error {
	return s.documents.Each([]byte{queueKey}, func(k, value []byte) error { return read(number(k, 0), value) })
}

// Moves reads the records of all message move tasks.
func (s *Store) Moves(read func(id uint64, record []byte) error) error {
	return s.documents.Each([]byte{moveKey}, func(k, value []byte) error { return read(number(k, 0), value) })
}

// Messages reads the states of all messages. Those of one queue are read in order.
func (s *Store) Messages(read func(queueID uint64, m *queue.Message)) error {
	share := map[string]string{}
	return s.documents.Each([]byte{stateKey}, func(k, value []byte) error {
		m, err := readState(value, number(k, 1), share)
		if err == nil {
			read(number(k, 0), m)
		}
		return err
	})
}

// Duplicates reads the deduplication keys of all queues, in no particular order.
func (s *Store) Duplicates(read func(queueID uint64, name string, at int64, seq uint64)) error {
	return s.documents.Each([]byte{duplicates}, func(k, value []byte) error {
		if len(value) != 16 {
			return errState
		}
		read(number(k, 0), string(k[9:]), int64(binary.BigEndian.Uint64(value)), binary.BigEndian.Uint64(value[8:]))
		return nil
	})
}

// number returns the i-th number in a key.
func number(k []byte, i int) uint64 { return binary.BigEndian.Uint64(k[1+8*i:]) }
