// Package pebble stores executions in a Pebble store in a directory. Every step is synced to disk before it becomes
// visible; steps of all executions that arrive while the disk is busy are synced together. Histories are written
// whole and compressed when an execution ends.
package pebble

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/engine/internal/startorder"
	"stepback/engine/journal"
	"stepback/engine/journal/diskspace"
	"stepback/internal/ownerfs"
	"stepback/internal/pebbleguard"
	"stepback/internal/pebblestore"
)

const (
	// Pebble subtracts the tables in memory from the cache: the one it writes to and the one it flushes.
	cacheBytes = 8<<20 + 2*memTableBytes
	// Pebble keeps three tables of this size: the one it writes to, the one it flushes, and one to be used again.
	// Without cgo they are part of Go's heap, whose growth they double. With 8 MB, a distributed Map of 100,000 items
	// takes a quarter longer.
	memTableBytes = 16 << 20
	bloomBits     = 10 // per key: one lookup in a hundred for a missing key reads a block
)

// Journal is a journal.Journal on disk.
type Journal struct {
	view // of db

	db        *pebblestore.Store
	dir       string
	committer *committer
	space     *diskspace.Space
	readOnly  bool
	volatile  bool
	retention *retention // nil if the store is read-only
	encoders  sync.Pool
	open      openSet
	opening   *openReader
	indexed   bool        // the store has an index
	dead      atomic.Bool // Pebble has ended one of its goroutines: the store cannot be used or closed

	mu          sync.Mutex
	definitions map[string]bool // IDs of the stored definitions
}

// Config configures a store; the zero value is usable.
type Config struct {
	// Space is the free space of the disk, which the store may share with others. The store reserves it when it is
	// opened, and closes and releases it when it is closed, so it must be closed last. When the disk is full, running
	// executions continue with the reserve, and new ones are refused with journal.ErrDiskFull until there is space
	// again. If it is nil, nothing is reserved: a full disk makes the journal refuse everything with
	// journal.ErrBroken. A read-only store does not use it.
	Space *diskspace.Space
	// Broken, if not nil, is called once, with an error that wraps journal.ErrBroken, when the disk has refused a
	// write. Nothing more is committed; the owner of the store can close it and open it again. Broken must be quick.
	Broken func(error)
	// Retention is the time that executions are kept after they end; 0 means DefaultRetention, a negative value means
	// for ever.
	Retention time.Duration
	// Now returns the time by which executions end, such as that of the engine's clock; nil means time.Now. It must be
	// safe for concurrent use.
	Now func() time.Time
	// FS is the file system; nil means the operating system's.
	FS vfs.FS
	// ReadOnly opens an existing store for reading; the disk may be read-only too. Nothing is changed.
	ReadOnly bool
	// MustExist refuses to create a store.
	MustExist bool
	// Volatile is true if nothing has to survive the process. Then there is no log, and nothing waits for the disk. A
	// store that is closed loses what has not become a table.
	Volatile bool
}

// OpenDir opens or creates the store in a directory with the default Config. stepback.Config.Journal takes it.
func OpenDir(dir string) (journal.Journal, error) {
	j, err := Open(dir, Config{})
	if err != nil {
		return nil, err
	}
	return j, nil
}

// Open opens or creates the store in a directory. Only one process at a time can have it open.
func Open(dir string, o Config) (*Journal, error) {
	if o.FS == nil {
		o.FS = ownerfs.System
	}
	j := &Journal{
		dir: dir, space: spaceOf(&o), readOnly: o.ReadOnly, volatile: o.Volatile, definitions: map[string]bool{},
		open: startorder.New[struct{}](),
	}
	j.encoders.New = func() any { return new(encoder) }
	cache := pebble.NewCache(cacheBytes)
	defer cache.Unref() // the store holds its own reference
	if !o.ReadOnly {
		if err := j.space.ToOpen(dir); err != nil {
			return nil, openError(dir, o.ReadOnly, err)
		}
	}
	db, err := pebblestore.Open(j.storeConfig(&o, cache))
	if err != nil {
		return nil, openError(dir, o.ReadOnly, err)
	}
	j.db, j.view = db, view{db}
	if err := j.checkVersion(o.ReadOnly); err != nil {
		return nil, errors.Join(j.withDir(err), db.Close())
	}
	if err := j.readOpen(); err != nil {
		return nil, errors.Join(j.withDir(err), db.Close())
	}
	if err := takeGroups(o.FS, dir, db, o.ReadOnly); err != nil {
		j.opening.stop()
		return nil, errors.Join(j.withDir(err), db.Close())
	}
	j.committer = startCommitter(db, o.Broken, o.Volatile)
	if !o.ReadOnly {
		j.space.Reserve()
		j.retention = j.retain(o.Retention, o.Now)
	}
	return j, nil
}

func (j *Journal) storeConfig(o *Config, cache *pebble.Cache) pebblestore.Config {
	c := pebblestore.Config{Dir: j.dir, FS: o.FS, ReadOnly: o.ReadOnly, Inspect: j.inspect}
	c.Options = func(readOnly bool) *pebble.Options {
		looks := *o
		looks.ReadOnly = readOnly
		return j.options(&looks, cache)
	}
	return c
}

// spaceOf returns the space that a store uses: the configured one, or one without a reserve.
func spaceOf(o *Config) *diskspace.Space {
	if o.Space == nil || o.ReadOnly {
		return diskspace.New(diskspace.Config{FS: o.FS})
	}
	return o.Space
}

func (j *Journal) options(o *Config, cache *pebble.Cache) *pebble.Options {
	p := &pebble.Options{
		Cache: cache, MemTableSize: memTableBytes, Logger: pebbleguard.Log{Fatal: func(err error) {
			j.dies(o.Broken,
				err)
		}},
		FormatMajorVersion: pebble.FormatNewest,
		FS:                 j.space.FS(o.FS), ErrorIfNotExists: o.MustExist, DisableWAL: o.Volatile,
	}
	if o.ReadOnly {
		p.FS = o.FS
	}
	// values are compressed already
	p.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionNone })
	for i := range p.Levels {
		p.Levels[i].FilterPolicy = bloom.FilterPolicy(bloomBits)
	}
	return p
}

// dies handles a fatal error in one of Pebble's own goroutines.
func (j *Journal) dies(tell func(error), err error) {
	if !j.dead.Swap(true) && tell != nil {
		tell(fmt.Errorf("%w: %w", journal.ErrBroken, err))
	}
}

// Close implements journal.Journal.
func (j *Journal) Close() error {
	if j.dead.Load() {
		return fmt.Errorf("%w: it stays open until the process ends", journal.ErrBroken)
	}
	j.opening.stop()
	j.retention.stop()
	j.space.Close()
	err := j.committer.stop()
	if err == nil && !j.readOnly && j.space.Sound() {
		err = pebbleguard.Call(j.db.Flush)
	}
	return errors.Join(err, j.db.Close(), j.space.Release())
}
