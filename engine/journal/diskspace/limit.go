package diskspace

import (
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// limitInterval is the time between two counts of the bytes that a limited directory takes.
const limitInterval = time.Second

// limit bounds what the files of a directory may take.
type limit struct {
	bytes int64 // 0 means no limit
	dir   string

	counting sync.Mutex // held while files are counted
	counted  time.Time
	taken    atomic.Int64
	beyond   atomic.Bool
}

// withinLimit reports whether the files take no more than the limit, and reports a change. One caller a second counts
// them; the others get the last result.
func (s *Space) withinLimit() bool {
	l := &s.limit
	if l.bytes == 0 {
		return true
	}
	if l.counting.TryLock() {
		defer l.counting.Unlock()
		if time.Since(l.counted) >= limitInterval {
			l.taken.Store(taken(l.dir))
			l.counted = time.Now()
			if beyond := l.taken.Load() > l.bytes; beyond != l.beyond.Swap(beyond) {
				s.mu.Lock()
				s.report(map[bool]State{true: Short, false: Ample}[beyond])
				s.mu.Unlock()
			}
		}
	}
	return !l.beyond.Load()
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
