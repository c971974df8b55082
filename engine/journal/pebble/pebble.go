// Package pebble keeps executions in a Pebble store in a directory. Every step is synced to disk before it becomes visible; the
// steps of all executions that come while the disk is busy are synced together. Histories are written whole, compressed, when
// an execution ends.
package pebble

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	cacheBytes    = 16 << 20
	memTableBytes = 16 << 20
	bloomBits     = 10 // per key: one lookup in a hundred of something missing reads a block
)

// Journal is a journal.Journal on disk.
type Journal struct {
	db        *pebble.DB
	dir       string
	committer *committer
	space     *space
	retention *retention // nil when the store is only read
	encoders  sync.Pool

	mu          sync.Mutex
	definitions map[string]bool // IDs of those that are kept
}

// Options of a store; the zero value is usable.
type Options struct {
	// Reserve is how many bytes of the disk are set aside for the time when it is full: then they are given up, executions that
	// are under way go on with them, and new ones are refused with journal.ErrDiskFull until there is room again. When they are used
	// up, too, whatever is written waits for room. 0 means none.
	Reserve int64
	// DiskFull, if not nil, is called when the disk has no room for what is written and no reserve is left. When it returns, or
	// without it and a reserve, the journal refuses everything with journal.ErrBroken.
	DiskFull func()
	// Room, if not nil, is called when there is less or more room than before. It must be quick.
	Room func(Room)
	// Broken, if not nil, is called once, with an error that is journal.ErrBroken, when the disk has refused a write. Nothing is
	// committed any more: whoever opened the store can close it and open it again. It must be quick.
	Broken func(error)
	// Retention is how long executions are kept after their end; 0 means DefaultRetention, a negative time for ever.
	Retention time.Duration
	// FS is the file system; nil means the machine's.
	FS vfs.FS
	// ReadOnly opens a store for reading only.
	ReadOnly bool
}

// Open opens or creates the store in a directory. Only one process at a time can have it open.
func Open(dir string, o Options) (*Journal, error) {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	j := &Journal{dir: dir, space: newSpace(dir, &o), definitions: map[string]bool{}}
	j.encoders.New = func() any { return new(encoder) }
	cache := pebble.NewCache(cacheBytes)
	defer cache.Unref() // the store has a reference of its own
	if err := j.space.toOpen(); err != nil {
		return nil, openError(dir, err)
	}
	db, err := openStore(dir, j.options(&o, cache))
	if err != nil {
		return nil, openError(dir, err)
	}
	j.db = db
	if err := j.checkVersion(); err != nil {
		return nil, errors.Join(fmt.Errorf("journal in %s: %w", dir, err), db.Close())
	}
	j.committer = startCommitter(db, o.Broken)
	if !o.ReadOnly {
		j.space.reserve()
		j.retention = j.retain(o.Retention)
	}
	return j, nil
}

func (j *Journal) options(o *Options, cache *pebble.Cache) *pebble.Options {
	p := &pebble.Options{
		Cache: cache, MemTableSize: memTableBytes, Logger: refusing{}, FormatMajorVersion: pebble.FormatNewest,
		FS: vfs.OnDiskFull(o.FS, j.space.full), ReadOnly: o.ReadOnly,
	}
	p.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionNone }) // values are compressed already
	for i := range p.Levels {
		p.Levels[i].FilterPolicy = bloom.FilterPolicy(bloomBits)
	}
	return p
}

// openStore opens Pebble's store. What Pebble finds in its log it writes into tables, and when the disk refuses that, it tries for
// ever; then this gives up, and the store is closed if that comes to an end after all.
func openStore(dir string, o *pebble.Options) (*pebble.DB, error) {
	type outcome struct {
		db  *pebble.DB
		err error
	}
	refused, opened := make(chan error, 1), make(chan outcome, 1)
	o.EventListener = &pebble.EventListener{BackgroundError: func(err error) {
		select {
		case refused <- err:
		default:
		}
		<-time.NewTimer(spaceInterval).C // Pebble would try again at once
	}}
	go func() {
		db, err := pebble.Open(dir, o)
		opened <- outcome{db, err}
	}()
	select {
	case s := <-opened:
		return s.db, s.err
	case err := <-refused:
		go func() {
			if s := <-opened; s.err == nil {
				_ = s.db.Close() // nobody has used it
			}
		}()
		return nil, err
	}
}

// openError says why a store could not be opened and what to do.
func openError(dir string, err error) error {
	hint := ""
	switch {
	case strings.Contains(err.Error(), "lock held by current process"):
		hint = " (is another stepback using this data directory? this process itself has it open)"
	case errors.Is(err, syscall.EAGAIN):
		hint = " (is another stepback using this data directory?)"
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		hint = " (stepback has to be able to write there)"
	}
	return fmt.Errorf("opening the journal in %s%s: %w", dir, hint, err)
}

// Close implements journal.Journal.
func (j *Journal) Close() error {
	j.retention.stop()
	j.space.close()
	err := j.committer.stop()
	if err == nil && !j.space.short.Load() { // Pebble does not survive a flush that finds no room
		err = guarded(j.db.Flush)
	}
	return errors.Join(err, j.db.Close(), j.space.release())
}

// refusing is Pebble's log. It drops its messages, since its errors reach the caller as errors, but for the one after which
// Pebble cannot go on: that ends the writer with a refusal, which the committer turns into an error.
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
