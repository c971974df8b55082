package pebble

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/engine/journal"
)

// spaceInterval is the interval at which a full disk is checked again.
const spaceInterval = 50 * time.Millisecond

// space manages free disk space. It reserves a file that is removed when the disk is full, so that running executions
// can be written, and recreates it once there is space again.
type space struct {
	fs    vfs.FS
	path  string
	bytes int64
	none  func()     // called when the reserve is used up too; may be nil
	tell  func(Room) // may be nil

	readOnly bool

	short atomic.Bool // the reserve has been released

	mu      sync.Mutex
	looked  time.Time
	waiting bool // the reserve file exists
	said    Room
	closing chan struct{} // closed when nothing waits for space any more
}

func newSpace(dir string, o *Config) *space {
	s := &space{fs: o.FS, path: filepath.Join(dir, "reserve"), bytes: o.Reserve, none: o.DiskFull, tell: o.Room,
		readOnly: o.ReadOnly, closing: make(chan struct{})}
	if o.ReadOnly {
		s.bytes = 0
	}
	return s
}

// reserve creates the reserve file if the disk has space for twice its size.
func (s *space) reserve() {
	if s.bytes == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.waiting && s.free() >= 2*s.bytes {
		s.waiting = s.allocate() == nil
	}
	s.short.Store(!s.waiting)
	if s.waiting {
		s.reportState(Roomy)
	} else {
		s.reportState(Short)
	}
}

// reportState reports a change of state. mu must be held.
func (s *space) reportState(r Room) {
	if s.said != r && s.tell != nil {
		s.tell(r)
	}
	s.said = r
}

// Room is the state of free space on the disk.
type Room int

// The states of a disk with a reserve.
const (
	Roomy Room = iota
	Short      // the reserve is released: new executions are refused, running ones continue
	Full       // the disk is full: running executions wait
)

// roomToWrite is the number of free bytes required before waiting writes continue.
const roomToWrite = 1 << 20

// roomToOpen is the number of bytes that opening a store writes besides the content of its log.
const roomToOpen = 256 << 10

// toOpen refuses to open a store on a disk without enough space for it: opening writes the content of the log into
// tables.
func (s *space) toOpen() error {
	dir := filepath.Dir(s.path)
	names, err := s.fs.List(dir)
	if s.readOnly || err != nil {
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
	if free := s.free(); free < need {
		return fmt.Errorf("%w: %d KB are free, %d are needed", journal.ErrDiskFull, free>>10, need>>10)
	}
	return nil
}

// free returns the number of free bytes on the disk. If the file system cannot report it, free assumes plenty.
func (s *space) free() int64 {
	usage, err := s.fs.GetDiskUsage(filepath.Dir(s.path))
	if err != nil {
		return 1 << 62
	}
	return int64(usage.AvailBytes)
}

func (s *space) allocate() error {
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

// full handles a write that failed because the disk is full; the write is retried when full returns. It removes the
// reserve file. If there is still too little space, it calls none, if that is set and no reserve was left, or else
// waits for space.
func (s *space) full() {
	s.mu.Lock()
	given := s.waiting && s.fs.Remove(s.path) == nil
	s.waiting = false
	s.short.Store(true)
	s.reportState(Short)
	s.mu.Unlock()
	switch {
	case given && s.free() >= roomToWrite:
	case s.none != nil:
		if !given {
			s.none()
		}
	case s.bytes > 0:
		s.await()
	}
}

// await waits until the disk has had space for a while, or the store is closed.
func (s *space) await() {
	look := time.NewTicker(spaceInterval)
	defer look.Stop()
	for first := true; s.free() < roomToWrite; first = false {
		if first {
			s.mu.Lock()
			s.reportState(Full)
			s.mu.Unlock()
		}
		select {
		case <-look.C:
		case <-s.closing:
			return
		}
	}
	s.mu.Lock()
	s.reportState(Short)
	s.mu.Unlock()
}

// close makes writes that wait for space fail.
func (s *space) close() { close(s.closing) }

// admits reports whether there is space for new work.
func (s *space) admits() bool {
	if !s.short.Load() || s.bytes == 0 {
		return true
	}
	s.mu.Lock()
	due := time.Since(s.looked) >= spaceInterval
	if due {
		s.looked = time.Now()
	}
	s.mu.Unlock()
	if due {
		s.reserve()
	}
	return !s.short.Load()
}

// release removes the reserve file when the store is closed.
func (s *space) release() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.waiting {
		return nil
	}
	s.waiting = false
	if err := s.fs.Remove(s.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
