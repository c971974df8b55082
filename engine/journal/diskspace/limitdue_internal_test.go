package diskspace

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// usage is a file system that reports how many bytes are in use.
type usage struct {
	vfs.FS
	used uint64
}

// GetDiskUsage implements vfs.FS.
func (u *usage) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{UsedBytes: u.used}, nil
}

// TestCountsOfManyFiles checks when a directory is counted again whose count takes two seconds.
func TestCountsOfManyFiles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fs := &usage{FS: vfs.Default, used: 100}
		s := New(Config{FS: fs, Limit: 1000, Dir: t.TempDir()})
		l := &s.limit
		for _, step := range []struct {
			name  string
			after time.Duration
			used  uint64
			due   bool
		}{
			{"at once", 0, 5000, false},
			{"not grown", time.Second, 100, false},
			{"grown by less than half of the rest", time.Second, 500, false},
			{"grown by more", time.Second, 501, true},
			{"not grown, before 100 times the duration of a count", 199 * time.Second, 100, false},
			{"not grown, after 100 times the duration of a count", 200 * time.Second, 100, true},
		} {
			l.looked, l.counted, l.took, l.used = time.Now(), time.Now(), 2*time.Second, 100
			l.taken.Store(200)
			<-time.NewTimer(step.after).C
			if fs.used = step.used; s.countDue() != step.due {
				t.Errorf("%s: want %v", step.name, step.due)
			}
		}
		l.beyond.Store(true)
		l.looked, l.counted = time.Now(), time.Now()
		<-time.NewTimer(time.Second).C
		if fs.used = 100; !s.countDue() {
			t.Error("beyond the limit: not counted after a second")
		}
	})
}
