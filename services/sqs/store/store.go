package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	cacheBytes    = 8 << 20
	memTableBytes = 16 << 20
	// version is that of the format of the store.
	version = 1
)

// ErrBroken is the error of everything after the disk has refused a write. What was acknowledged before is there when
// the store is opened again.
var ErrBroken = errors.New("the queues cannot be written any more")

// ErrClosed is the error of a store that has been closed.
var ErrClosed = errors.New("the store of the queues is closed")

// Store is an open store. Apply and the reading methods may be called at the same time.
type Store struct {
	dir string
	fs  vfs.FS

	mu     sync.Mutex
	db     *pebble.DB // nil until something is written
	broken error
	salt   uint64
}

// Open opens the store of a directory, which need not be there. fs is nil for the machine's file system.
func Open(dir string, system vfs.FS) (*Store, error) {
	s := &Store{dir: dir, fs: system}
	if s.fs == nil {
		s.fs = vfs.Default
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

// open opens Pebble's store. mu is held.
func (s *Store) open() error {
	cache := pebble.NewCache(cacheBytes)
	defer cache.Unref() // the store has a reference of its own
	o := &pebble.Options{
		Cache: cache, MemTableSize: memTableBytes, Logger: refusing{},
		FormatMajorVersion: pebble.FormatNewest, FS: s.fs,
	}
	err := guarded(func() (err error) {
		s.db, err = pebble.Open(s.dir, o)
		return err
	})
	if err != nil {
		return fmt.Errorf("opening the queues in %s: %w", s.dir, err)
	}
	value, closer, err := s.db.Get([]byte{aboutKey})
	switch {
	case errors.Is(err, pebble.ErrNotFound):
		s.salt = rand.Uint64()
		about := binary.BigEndian.AppendUint64([]byte{version}, s.salt)
		return guarded(func() error { return s.db.Set([]byte{aboutKey}, about, pebble.Sync) })
	case err != nil:
		return err
	}
	defer closer.Close()
	if len(value) != 9 || value[0] != version {
		return fmt.Errorf("the queues in %s are of a format that this version does not know", s.dir)
	}
	s.salt = binary.BigEndian.Uint64(value[1:])
	return nil
}

// Salt is a random number that the store has for good, once something has been written.
func (s *Store) Salt() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.salt
}

// Close closes the store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	db := s.db
	s.db, s.broken = nil, cmp.Or(s.broken, ErrClosed)
	if db == nil {
		return nil
	}
	return guarded(db.Close)
}

// Begin makes an empty batch, opening the store if nothing has been written before.
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

// reading is the store to read from; nil when nothing has been written.
func (s *Store) reading() (*pebble.DB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.db == nil && s.broken != nil {
		return nil, s.broken
	}
	return s.db, nil
}

// breaks refuses everything from now on.
func (s *Store) breaks(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil {
		s.broken = fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return s.broken
}

// guarded calls something that writes and turns Pebble's way of giving up into an error.
func guarded(write func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case refusal:
			err = p.err
		case error:
			err = p
		default:
			panic(p)
		}
	}()
	return write()
}

// refusing is Pebble's log. It drops its messages, since its errors reach the caller as errors, but for the one after
// which Pebble cannot go on: that ends the writer with a refusal.
type refusing struct{}

func (refusing) Infof(string, ...any)  {}
func (refusing) Errorf(string, ...any) {}
func (refusing) Fatalf(format string, args ...any) {
	for _, a := range args {
		if err, ok := a.(error); ok {
			panic(refusal{err})
		}
	}
	panic(refusal{fmt.Errorf(format, args...)})
}

// refusal is what refusing panics with.
type refusal struct{ err error }
