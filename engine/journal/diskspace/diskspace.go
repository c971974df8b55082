// Package diskspace manages the free space of a data directory: it reserves some of it, releases the reserve when the
// disk is full, makes writes wait for space, and reports the state of the disk. All stores of a data directory share
// one Space, since they share the disk.
package diskspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/engine/journal"
	"stepback/internal/ownerfs"
)

// Interval is the interval at which a full disk is checked again.
const Interval = 50 * time.Millisecond

// State is the state of free space on the disk.
type State int

// The states of a disk with a reserve.
const (
	Ample State = iota
	Short       // the reserve is released: new work is refused, work that was accepted continues
	Full        // the reserve is used up too: all writes wait
)

// Config configures a Space.
type Config struct {
	// FS is the file system; nil means the operating system's.
	FS vfs.FS
	// Path is the path of the reserve file, whose directory need not exist before Reserve is called.
	Path string
	// Reserve is the size of the reserve in bytes; 0 means no reserve, and then writes fail instead of waiting for
	// space.
	Reserve int64
	// Limit is the number of bytes that the files of Dir may take; 0 means as many as the disk has. The files are
	// counted at most once a second, and new work is refused while they take more: what was accepted continues.
	Limit int64
	Dir   string
	// Exhausted, if not nil, is called when the disk is full and no reserve is left. The write that found no space
	// fails after Exhausted returns.
	Exhausted func()
	// Changed, if not nil, is called when the state changes. It must be quick, and must not call the Space.
	Changed func(State)
}

// Space is the free space of a data directory. It is safe for concurrent use.
type Space struct {
	fs        vfs.FS
	path      string
	bytes     int64
	exhausted func()
	changed   func(State)
	limit     limit

	short  atomic.Bool // the reserve has been released
	failed atomic.Bool // see Fail

	mu      sync.Mutex
	looked  time.Time
	held    bool // the reserve file exists
	state   State
	waiting int           // the number of writes that wait for space
	closing chan struct{} // closed when nothing waits for space any more
	closed  bool
}

// New returns a Space. Nothing is reserved before Reserve is called.
func New(c Config) *Space {
	if c.FS == nil {
		c.FS = ownerfs.System
	}
	return &Space{fs: c.FS, path: c.Path, bytes: c.Reserve, exhausted: c.Exhausted, changed: c.Changed,
		limit: limit{bytes: c.Limit, dir: c.Dir}, closing: make(chan struct{})}
}

// FS returns a file system on which a write that finds no space is repeated after the reserve has been released, or
// after the disk has space again. Open the stores of the directory on it.
func (s *Space) FS(of vfs.FS) vfs.FS { return vfs.OnDiskFull(of, s.full) }

// Retry calls write, and calls it again after each error that a full disk caused, once there is space. It returns
// write's last error: one of another cause, or, if writes do not wait for space, that of the full disk.
func (s *Space) Retry(write func() error) error {
	for {
		err := write()
		if !errors.Is(err, syscall.ENOSPC) || s == nil || s.bytes == 0 || s.isClosed() {
			return err
		}
		s.full()
		if err = write(); !errors.Is(err, syscall.ENOSPC) {
			return err
		}
		select { // there is space, and not enough
		case <-time.After(Interval): //nolint:forbidigo // the disk has no clock of the engine
		case <-s.closing:
		}
	}
}

func (s *Space) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Reserve creates the reserve file if the disk has space for twice its size.
func (s *Space) Reserve() {
	if s.bytes == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.held && !s.closed && s.free(filepath.Dir(s.path)) >= 2*s.bytes {
		s.held = s.allocate() == nil
	}
	s.short.Store(!s.held)
	switch {
	case s.held:
		s.report(Ample)
	case s.waiting == 0:
		s.report(Short)
	}
}

// report reports a change of state. mu must be held.
func (s *Space) report(state State) {
	if s.state != state && s.changed != nil {
		s.changed(state)
	}
	s.state = state
}

// roomToWrite is the number of free bytes required before waiting writes continue.
const roomToWrite = 1 << 20

// roomToOpen is the number of bytes that opening a store writes besides the content of its log.
const roomToOpen = 256 << 10

// ToOpen returns an error that wraps journal.ErrDiskFull if the disk has too little space to open the Pebble store in a
// directory: opening writes the content of the log into tables, and Pebble would retry that for ever.
func (s *Space) ToOpen(dir string) error {
	names, err := s.fs.List(dir)
	if err != nil {
		return nil //nolint:nilerr // a directory that is not there yet, or one that Pebble says more about
	}
	need := int64(roomToOpen)
	for _, name := range names {
		if filepath.Ext(name) != ".log" {
			continue
		}
		if info, err := s.fs.Stat(filepath.Join(dir, name)); err == nil {
			need += info.Size()
		}
	}
	if free := s.free(dir); free < need {
		return fmt.Errorf("%w: %d KB are free, %d are needed", journal.ErrDiskFull, free>>10, need>>10)
	}
	return nil
}

// free returns the number of free bytes on the disk. If the file system cannot report it, free assumes plenty.
func (s *Space) free(dir string) int64 {
	usage, err := s.fs.GetDiskUsage(dir)
	if err != nil {
		return 1 << 62
	}
	return int64(usage.AvailBytes)
}

func (s *Space) allocate() error {
	f, err := s.fs.Create(s.path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	err = f.Preallocate(0, s.bytes)
	if errors.Is(err, errors.ErrUnsupported) { // NFS, 9P, ZFS: write zeros to take up the space
		err = zeros(f, s.bytes)
	}
	if err != nil {
		return errors.Join(err, f.Close(), s.fs.Remove(s.path))
	}
	return f.Close()
}

// zeros writes n zero bytes.
func zeros(w io.Writer, n int64) error {
	const block = 1 << 20
	zero := make([]byte, min(block, n))
	for n > 0 {
		wrote, err := w.Write(zero[:min(block, n)])
		if err != nil {
			return err
		}
		n -= int64(wrote)
	}
	return nil
}

// full handles a write that failed because the disk is full; the write is repeated when full returns. It removes the
// reserve file. If there is still too little space, it calls exhausted, if that is set and no reserve was left, or
// else waits for space.
func (s *Space) full() {
	s.mu.Lock()
	given := s.held && s.fs.Remove(s.path) == nil
	s.held = false
	s.short.Store(true)
	if s.waiting == 0 && s.bytes > 0 {
		s.report(Short)
	}
	s.mu.Unlock()
	switch {
	case given && s.free(filepath.Dir(s.path)) >= roomToWrite:
	case s.exhausted != nil:
		if !given {
			s.exhausted()
		}
	case s.bytes > 0:
		s.await()
	}
}

// await waits until the disk has space, or the Space is closed.
func (s *Space) await() {
	dir := filepath.Dir(s.path)
	if s.free(dir) >= roomToWrite {
		return
	}
	s.count(1)
	defer s.count(-1)
	look := time.NewTicker(Interval)
	defer look.Stop()
	for s.free(dir) < roomToWrite {
		select {
		case <-look.C:
		case <-s.closing:
			return
		}
	}
}

// count changes the number of writes that wait for space.
func (s *Space) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting += n
	if s.waiting > 0 {
		s.report(Full)
	} else if s.state == Full {
		s.report(Short)
	}
}

// Admits reports whether there is space for new work. While there is not, it checks the disk at most once an Interval,
// and recreates the reserve when there is. A nil Space admits everything.
func (s *Space) Admits() bool {
	if s == nil {
		return true
	}
	if !s.withinLimit() {
		return false
	}
	if !s.short.Load() || s.bytes == 0 {
		return true
	}
	s.mu.Lock()
	due := time.Since(s.looked) >= Interval
	if due {
		s.looked = time.Now()
	}
	s.mu.Unlock()
	if due {
		s.Reserve()
	}
	return !s.short.Load()
}

// Describe returns why new work is refused; "" if it is not. A nil Space refuses nothing.
func (s *Space) Describe() string {
	if s.Admits() {
		return ""
	}
	s.mu.Lock()
	state := s.state
	s.mu.Unlock()
	if s.limit.beyond.Load() {
		return fmt.Sprintf("the data take %d MB of at most %d MB: new work is refused until some are deleted",
			s.limit.taken.Load()/1e6, s.limit.bytes/1e6)
	}
	free := s.free(filepath.Dir(s.path)) >> 10
	if state == Full {
		return fmt.Sprintf("the disk is full (%d KB are free) and the reserved space is used up: "+
			"writes wait until space is freed", free)
	}
	return fmt.Sprintf(
		"the disk is full (%d KB are free): new work is refused until %d KB are free",
		free,
		2*s.bytes>>10,
	)
}

// Fail records that the disk has refused a write for another reason than space.
func (s *Space) Fail() { s.failed.Store(true) }

// Sound reports whether the disk takes writes: the reserve is not released, and Fail has not been called. A store that
// is closed leaves out what it could only write to speed up the next start, because Pebble does not survive a flush
// that the disk refuses.
func (s *Space) Sound() bool { return !s.short.Load() && !s.failed.Load() }

// Close makes writes that wait for space fail, now and later. It may be called more than once.
func (s *Space) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		close(s.closing)
	}
}

// Release removes the reserve file. Call it when the stores are closed.
func (s *Space) Release() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.held {
		return nil
	}
	s.held = false
	if err := s.fs.Remove(s.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
