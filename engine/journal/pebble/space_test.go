package pebble_test

import (
	"errors"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/engine/interpreter"
	"stepback/engine/journal"
	"stepback/engine/journal/journaltest"
	"stepback/engine/journal/pebble"
)

const reserve = 1 << 20

// smallDisk is a disk whose room a test decides. What is set aside on it counts.
type smallDisk struct {
	*vfs.MemFS
	mu   sync.Mutex
	free int64 // without the reserve
	held int64
}

func (d *smallDisk) room(bytes int64) {
	d.mu.Lock()
	d.free = bytes
	d.mu.Unlock()
}

func (d *smallDisk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return vfs.DiskUsage{AvailBytes: uint64(d.free)}, nil
}

func (d *smallDisk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.MemFS.Create(name, c)
	return &smallFile{f, d, d.PathBase(name) == "reserve"}, err
}

func (d *smallDisk) Remove(name string) error {
	if d.PathBase(name) == "reserve" {
		d.mu.Lock()
		d.free, d.held = d.free+d.held, 0
		d.mu.Unlock()
	}
	return d.MemFS.Remove(name)
}

type smallFile struct {
	vfs.File
	disk    *smallDisk
	reserve bool
}

func (f *smallFile) Preallocate(_, bytes int64) error {
	if f.reserve {
		f.disk.mu.Lock()
		f.disk.free, f.disk.held = f.disk.free-bytes, bytes
		f.disk.mu.Unlock()
	}
	return nil
}

func (f *smallFile) Write(p []byte) (int, error) {
	f.disk.mu.Lock()
	full := f.disk.free < int64(len(p))
	f.disk.mu.Unlock()
	if full {
		return 0, syscall.ENOSPC
	}
	return f.File.Write(p)
}

// TestAFullDiskRefusesOnlyNewWorkWhileItsReserveLasts fills a disk, lets an execution that is under way end, and makes room again.
func TestAFullDiskRefusesOnlyNewWorkWhileItsReserveLasts(t *testing.T) {
	t.Parallel()
	disk := &smallDisk{MemFS: vfs.NewMem(), free: 10 * reserve}
	j, err := pebble.Open("journal", pebble.Options{FS: disk, Reserve: reserve, DiskFull: func() { t.Error("the reserve was not enough") }})
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
	disk.room(0)
	journaltest.Commit(t, j, journaltest.Second(x))
	refused := make(chan error, 1)
	j.Commit(journaltest.First(journaltest.Begun("arn:2")), func(err error) { refused <- err })
	if err := <-refused; !errors.Is(err, journal.ErrDiskFull) {
		t.Errorf("new work on a full disk: %v", err)
	}
	journaltest.Commit(t, j, journaltest.Last(x, interpreter.Succeeded))
	disk.room(10 * reserve)
	for end := time.Now().Add(10 * time.Second); ; {
		j.Commit(journaltest.First(journaltest.Begun("arn:2")), func(err error) { refused <- err })
		err := <-refused
		if err == nil {
			break
		}
		if !errors.Is(err, journal.ErrDiskFull) || time.Now().After(end) {
			t.Fatalf("when there is room again: %v", err)
		}
	}
	if got, err := j.Execution(t.Context(), "arn:1"); err != nil || got.Status != interpreter.Succeeded {
		t.Errorf("%+v, %v", got, err)
	}
}
