package pebble

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// spaceInterval is how often a full disk is looked at again.
const spaceInterval = 50 * time.Millisecond

// space looks after the room on the disk: it sets a file aside that is removed when the disk is full, so that what is under way
// can be written, and has it back when there is room again.
type space struct {
	fs    vfs.FS
	path  string
	bytes int64
	none  func() // called when the reserve is gone too; may be nil

	short atomic.Bool // the reserve has been given up

	mu      sync.Mutex
	looked  time.Time
	waiting bool // the reserve file is there
}

func newSpace(dir string, o *Options) *space {
	s := &space{fs: o.FS, path: filepath.Join(dir, "reserve"), bytes: o.Reserve, none: o.DiskFull}
	if o.ReadOnly {
		s.bytes = 0
	}
	return s
}

// reserve sets the file aside, if the disk has room for two of it.
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
}

// free is how many bytes the disk has left; what cannot be asked is taken for plenty.
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
	if err := f.Preallocate(0, s.bytes); err != nil {
		return errors.Join(err, f.Close(), s.fs.Remove(s.path))
	}
	return f.Close()
}

// full is called when a write finds no room; the write is tried once more when it returns.
func (s *space) full() {
	s.mu.Lock()
	given := s.waiting && s.fs.Remove(s.path) == nil
	s.waiting = false
	s.mu.Unlock()
	s.short.Store(true)
	if !given && s.none != nil {
		s.none()
	}
}

// admits reports whether there is room for new work.
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

// release removes the file when the store is closed.
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
