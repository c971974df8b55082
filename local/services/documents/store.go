package documents

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/engine/journal/diskspace"
	"stepback/internal/ownerfs"
	"stepback/internal/pebbleguard"
	"stepback/internal/pebblestore"
)

const (
	// Pebble subtracts the tables in memory from the cache: the one it writes to and the one it flushes.
	cacheBytes = 8<<20 + 2*memTableBytes
	// Pebble begins with a table of 256 KiB and doubles it whenever it is full, and keeps three: with 16 MiB, a long
	// import would take 48 MiB for them, which are part of Go's heap and double its growth. 4 MiB is Pebble's default.
	memTableBytes = 4 << 20
	// bloomBits is the number of bits of a key in the filters of tables: a lookup of a new key reads a block of one
	// table in a hundred. Most writes look up a key that does not exist yet.
	bloomBits = 10
)

// ErrBroken is returned by all operations after the disk has rejected a write, unless the disk was full and the store
// waits for space. What was acknowledged before is available when the store is opened again.
var ErrBroken = errors.New("nothing can be written any more")

// ErrClosed is returned if the store has been closed.
var ErrClosed = errors.New("the store is closed")

// Disk configures how a store uses the disk. The zero value is usable.
type Disk struct {
	// FS is the file system; nil means the machine's file system.
	FS vfs.FS
	// Space is the free space of the disk, which the owner may share between stores. Writes that find no space wait
	// for it. If it is nil, a full disk breaks the store like any other failure of the disk.
	Space *diskspace.Space
	// Volatile is true if nothing has to survive the process. Then there is no log, no batch waits for the disk, and a
	// store that is closed loses what has not become a table.
	Volatile bool
	// Broken, if not nil, is called once, with an error that wraps ErrBroken, when the store rejects everything from
	// then on. It must be quick.
	Broken func(error)
}

// Store is an open store. It is safe for concurrent use.
type Store struct {
	dir  string
	disk Disk
	fs   vfs.FS // disk.FS, on which writes wait for space

	unsynced atomic.Int64 // batches that are visible and not known to be on disk

	pace     pace
	settling settling

	mu     sync.Mutex
	db     opened // nil until something has been written
	broken error
	dead   bool // Pebble has ended one of its goroutines: closing the store would wait for ever
}

// Open opens the store in a directory, which need not exist. If system is nil, the machine's file system is used. A
// damaged store is refused, and nothing in it is changed. One that has lost the end of its log is opened: see
// LostTails. A full disk breaks the store; see OpenOn.
func Open(dir string, system vfs.FS) (*Store, error) { return OpenOn(dir, Disk{FS: system}) }

// OpenOn opens the store in a directory, which need not exist. The error wraps journal.ErrDiskFull if the disk has too
// little space to open it.
func OpenOn(dir string, disk Disk) (*Store, error) {
	s := &Store{dir: dir, disk: disk, fs: disk.FS}
	if s.fs == nil {
		s.fs = ownerfs.System
	}
	if disk.Space != nil {
		s.fs = disk.Space.FS(s.fs)
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
	if s.disk.Space != nil {
		if err := s.disk.Space.ToOpen(s.dir); err != nil {
			return fmt.Errorf("opening %s: %w", s.dir, err)
		}
	}
	cache := pebble.NewCache(cacheBytes)
	defer cache.Unref() // the store holds its own reference
	db, err := pebblestore.Open(configure(s, cache))
	if err != nil {
		return fmt.Errorf("opening %s: %w%s", s.dir, err, hint(err))
	}
	s.db = db
	return nil
}

// configure returns the configuration of Pebble's store.
func configure(s *Store, cache *pebble.Cache) pebblestore.Config {
	return pebblestore.Config{Dir: s.dir, FS: cmp.Or(s.disk.FS, ownerfs.System), Options: func(bool) *pebble.Options {
		o := &pebble.Options{
			Cache: cache, MemTableSize: memTableBytes, Logger: pebbleguard.Log{Fatal: s.dies},
			FormatMajorVersion: pebble.FormatNewest, FS: s.fs, DisableWAL: s.disk.Volatile,
			WALMinSyncInterval: func() time.Duration { return s.pace.interval(time.Now()) },
		}
		for i := range o.Levels {
			o.Levels[i].FilterPolicy = bloom.FilterPolicy(bloomBits)
		}
		return o
	}}
}

// dies handles a fatal error in one of Pebble's own goroutines.
func (s *Store) dies(err error) {
	_ = s.breaks(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead = true
}

// Close closes the store.
func (s *Store) Close() error {
	s.settling.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	db := s.db
	s.db, s.broken = nil, cmp.Or(s.broken, ErrClosed)
	if db == nil || s.dead {
		return nil
	}
	return db.Close()
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
	return &Batch{store: s, batch: pebbleOf(s.db).NewBatch()}, nil
}

// Get returns a copy of the value of a key; found is false if there is none.
func (s *Store) Get(key []byte) (value []byte, found bool, err error) {
	db, err := reading(s)
	if err != nil || db == nil {
		return nil, false, err
	}
	kept, closer, err := db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, s.damaged(err)
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

// breaks makes the store reject everything from now on.
func (s *Store) breaks(err error) error {
	s.mu.Lock()
	first := s.broken == nil
	if first {
		s.broken = fmt.Errorf("%s: %w: %w", s.dir, ErrBroken, err)
	}
	err = s.broken
	s.mu.Unlock()
	if first && s.disk.Broken != nil {
		s.disk.Broken(err)
	}
	return err
}

// Broken returns why the store rejects everything; nil if it does not.
func (s *Store) Broken() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}
