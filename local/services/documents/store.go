package documents

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/internal/ownerfs"
	"stepback/internal/pebbleguard"
)

const (
	cacheBytes    = 8 << 20
	memTableBytes = 16 << 20
)

// ErrBroken is returned by all operations after the disk has rejected a write. What was acknowledged before is
// available when the store is opened again.
var ErrBroken = errors.New("nothing can be written any more")

// ErrClosed is returned if the store has been closed.
var ErrClosed = errors.New("the store is closed")

// Store is an open store. It is safe for concurrent use.
type Store struct {
	dir string
	fs  vfs.FS

	pace     pace
	settling settling

	mu     sync.Mutex
	db     *pebble.DB // nil until something has been written
	broken error
}

// Open opens the store in a directory, which need not exist. If system is nil, the machine's file system is used.
func Open(dir string, system vfs.FS) (*Store, error) {
	s := &Store{dir: dir, fs: system}
	if s.fs == nil {
		s.fs = ownerfs.System
	}
	_, err := s.fs.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s, s.open()
}

// open opens Pebble's store. The caller holds mu.
func (s *Store) open() error {
	cache := pebble.NewCache(cacheBytes)
	defer cache.Unref() // the store holds its own reference
	o := &pebble.Options{
		Cache: cache, MemTableSize: memTableBytes, Logger: pebbleguard.Log{},
		FormatMajorVersion: pebble.FormatNewest, FS: s.fs,
		WALMinSyncInterval: func() time.Duration { return s.pace.interval(time.Now()) },
	}
	err := pebbleguard.Call(func() (err error) {
		s.db, err = pebble.Open(s.dir, o)
		return err
	})
	if err != nil {
		return fmt.Errorf("opening %s: %w", s.dir, err)
	}
	return nil
}

// Close closes the store.
func (s *Store) Close() error {
	s.settling.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	db := s.db
	s.db, s.broken = nil, cmp.Or(s.broken, ErrClosed)
	if db == nil {
		return nil
	}
	return pebbleguard.Call(db.Close)
}

// Begin returns an empty batch, and creates the store if nothing has been written before.
func (s *Store) Begin() (*Batch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return nil, s.broken
	}
	if s.db == nil {
		if err := s.open(); err != nil {
			return nil, err
		}
	}
	return &Batch{store: s, batch: s.db.NewBatch()}, nil
}

// Get returns a copy of the value of a key; found is false if there is none.
func (s *Store) Get(key []byte) (value []byte, found bool, err error) {
	db, err := s.reading()
	if err != nil || db == nil {
		return nil, false, err
	}
	kept, closer, err := db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return append([]byte{}, kept...), true, closer.Close()
}

// Each calls read for all keys that begin with prefix, in order. If read returns an error, Each stops and returns
// it. Key and value are valid only during the call.
func (s *Store) Each(prefix []byte, read func(key, value []byte) error) error {
	return s.Range(prefix, after(prefix), false, read)
}

// after returns the first key after all those that begin with prefix; nil if there is none.
func after(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// reading returns the store to read from; nil if nothing has been written.
func (s *Store) reading() (*pebble.DB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.db == nil && s.broken != nil {
		return nil, s.broken
	}
	return s.db, nil
}

// breaks makes the store reject everything from now on.
func (s *Store) breaks(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil {
		s.broken = fmt.Errorf("%s: %w: %w", s.dir, ErrBroken, err)
	}
	return s.broken
}
