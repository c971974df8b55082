package store

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/local/services/documents"
)

// version is the format version of the store.
const version = 1

// Store is an open store. Apply and the reading methods may be called concurrently.
type Store struct {
	documents *documents.Store

	mu   sync.Mutex
	salt uint64
	made bool // a batch with the version and salt has been applied
}

// Open opens the store in a directory, which need not exist. A nil system means the operating system's file system.
func Open(dir string, system vfs.FS) (*Store, error) { return OpenOn(dir, documents.Disk{FS: system}) }

// OpenOn opens the store in a directory, which need not exist.
func OpenOn(dir string, disk documents.Disk) (*Store, error) {
	kept, err := documents.OpenOn(dir, disk)
	if err != nil {
		return nil, err
	}
	s := &Store{documents: kept}
	about, found, err := kept.Get([]byte{aboutKey})
	switch {
	case err == nil && !found:
		s.salt = rand.Uint64()
		return s, nil
	case err == nil && (len(about) != 9 || about[0] != version):
		err = fmt.Errorf("the queues in %s are of a format that this version does not know", dir)
	case err == nil:
		s.salt, s.made = binary.BigEndian.Uint64(about[1:]), true
		return s, nil
	}
	_ = kept.Close() // the first error is more important
	return nil, err
}

// Salt returns the store's random number. It stays the same once something has been written to the store.
func (s *Store) Salt() uint64 { return s.salt }

// Close closes the store.
func (s *Store) Close() error { return s.documents.Close() }

// Begin returns an empty batch. It creates the store if nothing has been written before.
func (s *Store) Begin() (*Batch, error) {
	b, err := s.documents.Begin()
	if err != nil {
		return nil, err
	}
	return &Batch{Batch: b, store: s}, nil
}

// stamp adds the version and the salt to a batch, unless an applied batch has them: the disk keeps the order, so
// batches that are applied later are never kept without it.
func (s *Store) stamp(b *documents.Batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.made && !b.Empty() {
		b.Set([]byte{aboutKey}, binary.BigEndian.AppendUint64([]byte{version}, s.salt))
	}
}

// stamped records that a batch has been applied.
func (s *Store) stamped() {
	s.mu.Lock()
	s.made = true
	s.mu.Unlock()
}
