package diskspace

import (
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// limitInterval is the time between two looks at the bytes that a limited directory takes.
	limitInterval = time.Second
	// countShare is the time between two counts as a multiple of the time that a count takes, as long as the file
	// system does not grow. A directory of 200,000 files is counted in about a second, for which the caller waits.
	countShare = 100
)

// limit bounds what the files of a directory may take.
type limit struct {
	bytes int64 // 0 means no limit
	dir   string

	counting sync.Mutex // held while files are counted
	looked   time.Time
	counted  time.Time
	took     time.Duration // of the last count
	used     int64         // bytes of the file system that were in use when the files were counted
	taken    atomic.Int64
	beyond   atomic.Bool
}

// withinLimit reports whether the files take no more than the limit, and reports a change. One caller a second counts
// them if that is due; the others get the last result.
func (s *Space) withinLimit() bool {
	l := &s.limit
	if l.bytes == 0 {
		return true
	}
	if l.counting.TryLock() {
		defer l.counting.Unlock()
		if s.countDue() {
			begun := time.Now()
			l.used, _ = s.used(l.dir)
			l.taken.Store(taken(l.dir))
			l.counted = time.Now()
			l.took = l.counted.Sub(begun)
			if beyond := l.taken.Load() > l.bytes; beyond != l.beyond.Swap(beyond) {
				s.mu.Lock()
				s.report(map[bool]State{true: Short, false: Ample}[beyond])
				s.mu.Unlock()
			}
		}
	}
	return !l.beyond.Load()
}

// countDue reports whether the files have to be counted again. If a count takes long, the next one waits, unless the
// file system has since grown by more than half of what the files may still take. limit.counting is held.
func (s *Space) countDue() bool {
	l := &s.limit
	now := time.Now()
	if now.Sub(l.looked) < limitInterval {
		return false
	}
	l.looked = now
	if l.beyond.Load() || now.Sub(l.counted) >= countShare*l.took {
		return true
	}
	used, known := s.used(l.dir)
	return !known || used-l.used > (l.bytes-l.taken.Load())/2
}

// used returns the bytes in use on the file system of a directory.
func (s *Space) used(dir string) (bytes int64, known bool) {
	usage, err := s.fs.GetDiskUsage(dir)
	return int64(usage.UsedBytes), err == nil
}

// taken returns the bytes that the files below a directory take. Files that vanish meanwhile take none.
func taken(dir string) int64 {
	total := int64(0)
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil //nolint:nilerr // it has vanished
		}
		if info, err := e.Info(); err == nil {
			total += allocated(info)
		}
		return nil
	})
	return total
}
