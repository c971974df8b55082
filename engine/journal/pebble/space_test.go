package pebble_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/diskspace"
	"stepback/engine/journal/diskspace/diskspacetest"
	"stepback/engine/journal/journaltest"
	"stepback/engine/journal/pebble"
)

const reserve = 1 << 20

// spaceOn returns a Space with a reserve on a disk.
func spaceOn(disk vfs.FS, c diskspace.Config) *diskspace.Space {
	c.FS, c.Path, c.Reserve = disk, "journal/"+diskspacetest.ReserveName, reserve
	return diskspace.New(c)
}

// TestAFullDiskRefusesOnlyNewWorkWhileItsReserveLasts fills a disk, lets a running execution end, and frees space
// again.
func TestAFullDiskRefusesOnlyNewWorkWhileItsReserveLasts(t *testing.T) {
	t.Parallel()
	disk := diskspacetest.New(10 * reserve)
	j, err := pebble.Open("journal", pebble.Config{FS: disk, Retention: -1, Space: spaceOn(disk, diskspace.Config{
		Exhausted: func() { t.Error("the reserve was not enough") }})})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}()
	x := journaltest.Begun("arn:1")
	journaltest.Commit(t, j, journaltest.First(x))
	disk.SetFree(0)
	journaltest.Commit(t, j, journaltest.Second(x))
	refused := make(chan error, 1)
	j.Commit(journaltest.First(journaltest.Begun("arn:2")), func(err error) { refused <- err })
	if err := <-refused; !errors.Is(err, journal.ErrDiskFull) {
		t.Errorf("new work on a full disk: %v", err)
	}
	journaltest.Commit(t, j, journaltest.Last(x, history.Succeeded))
	disk.SetFree(10 * reserve)
	for end := time.Now().Add(time.Minute); ; {
		j.Commit(journaltest.First(journaltest.Begun("arn:2")), func(err error) { refused <- err })
		err := <-refused
		if err == nil {
			break
		}
		if !errors.Is(err, journal.ErrDiskFull) || time.Now().After(end) {
			t.Fatalf("when there is room again: %v", err)
		}
	}
	if got, err := j.Execution(t.Context(), "arn:1"); err != nil || got.Status != history.Succeeded {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestWritesWaitForRoomWhenTheReserveIsUsedUp fills a disk including its reserve, then frees space or closes the
// store.
func TestWritesWaitForRoomWhenTheReserveIsUsedUp(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{false, true} {
		t.Run(fmt.Sprintf("closed=%v", closed), func(t *testing.T) {
			t.Parallel()
			disk := diskspacetest.New(10 * reserve)
			states := make(chan diskspace.State, 10)
			j, err := pebble.Open("journal", pebble.Config{FS: disk, Retention: -1, Space: spaceOn(disk, diskspace.Config{
				Changed: func(s diskspace.State) { states <- s }})})
			if err != nil {
				t.Fatal(err)
			}
			x := journaltest.Begun("arn:1")
			journaltest.Commit(t, j, journaltest.First(x))
			disk.SetFree(-reserve) // and none after the reserve is released
			done := make(chan error, 1)
			j.Commit(journaltest.Second(x), func(err error) { done <- err })
			for _, want := range []diskspace.State{diskspace.Short, diskspace.Full} {
				if got := <-states; got != want {
					t.Errorf("the disk is said to be %d, want %d", got, want)
				}
			}
			if closed {
				if err := j.Close(); !errors.Is(err, journal.ErrBroken) {
					t.Errorf("Close with a write that waits for room: %v", err)
				}
				if err := <-done; !errors.Is(err, journal.ErrBroken) {
					t.Errorf("the write that waited: %v", err)
				}
				return
			}
			disk.SetFree(10 * reserve)
			if err := <-done; err != nil {
				t.Errorf("the write that waited: %v", err)
			}
			journaltest.Commit(t, j, journaltest.Last(x, history.Succeeded))
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAFullDiskIsNotOpened opens a store whose log must be written into tables.
func TestAFullDiskIsNotOpened(t *testing.T) {
	t.Parallel()
	disk := diskspacetest.New(10 * reserve)
	for _, step := range []struct {
		free int64
		want string
	}{{10 * reserve, ""}, {0, "the disk is full; free space: 0 KB are free"}, {10 * reserve, ""}} {
		disk.SetFree(step.free)
		j, err := pebble.Open("journal", pebble.Config{FS: disk, Retention: -1})
		if step.want != "" {
			if !errors.Is(err, journal.ErrDiskFull) || !strings.Contains(err.Error(), step.want) {
				t.Errorf("opened on a full disk: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestADiskThatRefusesToBeReplayedOnto opens a store on a disk that refuses tables, so the content of its log cannot
// be written.
func TestADiskThatRefusesToBeReplayedOnto(t *testing.T) {
	t.Parallel()
	disk := vfs.NewCrashableMem()
	j, err := pebble.Open("journal", pebble.Config{FS: disk, Retention: -1})
	if err != nil {
		t.Fatal(err)
	}
	x := journaltest.Begun("arn:1")
	journaltest.Commit(t, j, journaltest.First(x))
	killed := disk.CrashClone(vfs.CrashCloneCfg{})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	var well atomic.Bool
	t.Cleanup(func() { well.Store(true) }) // Pebble is still retrying
	refusing := errorfs.Wrap(killed, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if !well.Load() && op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") {
			return syscall.EIO
		}
		return nil
	}))
	if _, err := pebble.Open("journal", pebble.Config{FS: refusing}); !errors.Is(err, syscall.EIO) {
		t.Errorf("opened on a disk that refuses writes: %v", err)
	}
}

// plainFS is a file system that cannot preallocate space, like NFS and 9P.
type plainFS struct{ vfs.FS }

func (p plainFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := p.FS.Create(name, c)
	return plainFile{f}, err
}

type plainFile struct{ vfs.File }

func (plainFile) Preallocate(int64, int64) error { return syscall.EOPNOTSUPP }

// TestAReserveWhereNoRoomCanBeSetAside checks that the reserve is written instead of preallocated, and the disk is
// not considered full.
func TestAReserveWhereNoRoomCanBeSetAside(t *testing.T) {
	t.Parallel()
	disk := plainFS{vfs.NewMem()}
	j, err := pebble.Open("journal", pebble.Config{FS: disk, Retention: -1, Space: diskspace.New(diskspace.Config{
		FS: disk, Path: "journal/reserve", Reserve: reserve + 1,
		Changed: func(s diskspace.State) { t.Errorf("the disk is said to be %d", s) }})})
	if err != nil {
		t.Fatal(err)
	}
	journaltest.Commit(t, j, journaltest.First(journaltest.Begun("arn:1")))
	if info, err := disk.Stat("journal/reserve"); err != nil || info.Size() != reserve+1 {
		t.Errorf("the reserve: %+v, %v", info, err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := disk.Stat("journal/reserve"); err == nil {
		t.Error("the reserve stays")
	}
}
