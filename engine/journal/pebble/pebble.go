// Package pebble stores executions in a Pebble store in a directory. Every step is synced to disk before it becomes
// visible; steps of all executions that arrive while the disk is busy are synced together. Histories are written
// whole and compressed when an execution ends.
package pebble

import (
	"errors"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/engine/journal"
	"stepback/engine/journal/diskspace"
	"stepback/internal/pebbleguard"
)

const (
	cacheBytes    = 16 << 20
	memTableBytes = 16 << 20
	bloomBits     = 10 // per key: one lookup in a hundred for a missing key reads a block
)

// Journal is a journal.Journal on disk.
type Journal struct {
	db        *pebble.DB
	dir       string
	committer *committer
	anchor    *anchor // nil if the store is read-only
	lost      []*LostTail
	space     *diskspace.Space
	readOnly  bool
	retention *retention // nil if the store is read-only
	encoders  sync.Pool
	open      openSet
	indexed   bool // the store has an index

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
	// FS is the file system; nil means the operating system's.
	FS vfs.FS
	// ReadOnly opens an existing store for reading; the disk may be read-only too. Nothing is changed.
	ReadOnly bool
	// MustExist refuses to create a store.
	MustExist bool
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
		o.FS = vfs.Default
	}
	j := &Journal{dir: dir, space: spaceOf(&o), readOnly: o.ReadOnly, definitions: map[string]bool{}}
	j.encoders.New = func() any { return new(encoder) }
	cache := pebble.NewCache(cacheBytes)
	defer cache.Unref() // the store holds its own reference
	if !o.ReadOnly {
		if err := j.space.ToOpen(dir); err != nil {
			return nil, openError(dir, o.ReadOnly, err)
		}
	}
	if err := j.checkComplete(o, cache); err != nil {
		return nil, err
	}
	db, err := pebbleguard.Open(dir, j.options(&o, cache))
	if err != nil {
		return nil, openError(dir, o.ReadOnly, err)
	}
	if !o.ReadOnly {
		if err := verifyTables(o.FS, dir, db); err != nil {
			return nil, errors.Join(openError(dir, o.ReadOnly, err), db.Close())
		}
	}
	j.db = db
	if err := j.checkVersion(o.ReadOnly); err != nil {
		return nil, errors.Join(j.withDir(err), db.Close())
	}
	if err := j.readOpen(); err != nil {
		return nil, errors.Join(j.withDir(err), db.Close())
	}
	a, err := readAnchor(o.FS, dir, db)
	if err != nil {
		return nil, errors.Join(j.withDir(err), db.Close())
	}
	j.lost = a.said.Lost
	j.committer = startCommitter(db, o.Broken, a.said.Groups)
	if !o.ReadOnly {
		j.anchor = a
		a.follow(j.committer.durable.Load)
		j.space.Reserve()
		j.retention = j.retain(o.Retention)
	}
	return j, nil
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
		Cache: cache, MemTableSize: memTableBytes, Logger: pebbleguard.Log{}, FormatMajorVersion: pebble.FormatNewest,
		FS: j.space.FS(o.FS), ReadOnly: o.ReadOnly, ErrorIfNotExists: o.MustExist,
	}
	if o.ReadOnly {
		p.FS = readOnlyFS{o.FS}
	}
	// values are compressed already
	p.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionNone })
	for i := range p.Levels {
		p.Levels[i].FilterPolicy = bloom.FilterPolicy(bloomBits)
	}
	return p
}

// Close implements journal.Journal.
func (j *Journal) Close() error {
	j.retention.stop()
	j.space.Close()
	err := j.committer.stop()
	j.anchor.stop()
	if err == nil && !j.readOnly && j.space.Sound() {
		err = pebbleguard.Call(j.db.Flush)
	}
	return errors.Join(err, j.db.Close(), j.space.Release())
}
