package documents_test

import (
	"errors"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/engine/journal"
	"stepback/engine/journal/diskspace"
	"stepback/engine/journal/diskspace/diskspacetest"
	"stepback/local/services/documents"
)

const reserve = 2 << 20

// spaceOf returns the space of a disk. changed receives its states.
func spaceOf(disk *diskspacetest.Disk) (space *diskspace.Space, changed chan diskspace.State) {
	changed = make(chan diskspace.State, 100)
	return diskspace.New(diskspace.Config{FS: disk, Path: "/" + diskspacetest.ReserveName, Reserve: reserve,
		Changed: func(s diskspace.State) { changed <- s }}), changed
}

func put(t *testing.T, s *documents.Store, key string) (wait func() error) {
	t.Helper()
	b := begin(t, s)
	b.Put(s.Table("t"), key, []byte("v"))
	return b.Apply()
}

// TestStoresWaitForSpace fills a disk, at first so that the reserve lasts, then without any space. The writes of two
// stores wait, reading works, and both stores accept writes when there is space, without being opened again.
func TestStoresWaitForSpace(t *testing.T) {
	t.Parallel()
	disk := diskspacetest.New(10 * reserve)
	space, changed := spaceOf(disk)
	space.Reserve()
	stores := make([]*documents.Store, 2)
	for i, dir := range []string{"/documents", "/sqs"} {
		var err error
		if stores[i], err = documents.OpenOn(dir, documents.Disk{FS: disk, Space: space,
			Broken: func(err error) { t.Error(err) }}); err != nil {
			t.Fatal(err)
		}
		if err := put(t, stores[i], "before")(); err != nil {
			t.Fatal(err)
		}
	}
	disk.SetFree(0)
	for _, s := range stores { // the reserve is enough
		if err := put(t, s, "short")(); err != nil {
			t.Fatal(err)
		}
	}
	if got := <-changed; got != diskspace.Short || space.Admits() {
		t.Errorf("the disk is said to be %d, and new work admitted: %v", got, space.Admits())
	}
	disk.SetFree(-reserve)
	done := make(chan error, len(stores))
	for _, s := range stores {
		wait := put(t, s, "full")
		go func() { done <- wait() }()
	}
	if got := <-changed; got != diskspace.Full {
		t.Errorf("the disk is said to be %d", got)
	}
	const why = "the disk is full (0 KB are free) and the reserved space is used up: writes wait until space is freed"
	if got := space.Describe(); got != why {
		t.Errorf("the reason is %q", got)
	}
	for _, s := range stores {
		if _, found, err := s.Table("t").Get("short"); !found || err != nil {
			t.Errorf("reading on a full disk: %v, %v", found, err)
		}
	}
	select {
	case err := <-done:
		t.Fatalf("a write on a full disk has returned %v", err)
	default:
	}
	disk.SetFree(10 * reserve)
	for range stores {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	for !space.Admits() {
		if t.Context().Err() != nil {
			t.Fatal("new work is not admitted")
		}
	}
	after := disk.CrashClone(vfs.CrashCloneCfg{})
	for i, dir := range []string{"/documents", "/sqs"} {
		if err := put(t, stores[i], "after")(); err != nil {
			t.Error(err)
		}
		if err := stores[i].Close(); err != nil {
			t.Error(err)
		}
		s, err := documents.Open(dir, after)
		if err != nil {
			t.Fatal(err)
		}
		if got := keys(t, s.Table("t"), "", ""); len(got) != 3 {
			t.Errorf("what was acknowledged in %s: %q", dir, got)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAStoreIsNotOpenedOnAFullDisk opens a store whose log must be written into a table first.
func TestAStoreIsNotOpenedOnAFullDisk(t *testing.T) {
	t.Parallel()
	disk := diskspacetest.New(10 * reserve)
	space, _ := spaceOf(disk)
	for _, step := range []struct {
		free int64
		full bool
	}{{10 * reserve, false}, {0, true}, {10 * reserve, false}} {
		disk.SetFree(step.free)
		s, err := documents.OpenOn("/documents", documents.Disk{FS: disk, Space: space})
		if step.full {
			const want = "opening /documents: the disk is full; free space: 0 KB are free, 256 are needed"
			if !errors.Is(err, journal.ErrDiskFull) || err.Error() != want {
				t.Errorf("opened on a full disk: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := put(t, s, "k")(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAStoreThatBreaks lets writes fail for another reason than space: the store rejects everything, and calls
// Broken once.
func TestAStoreThatBreaks(t *testing.T) {
	t.Parallel()
	disk := diskspacetest.New(10 * reserve)
	space, _ := spaceOf(disk)
	var told []error
	s, err := documents.OpenOn("/documents", documents.Disk{FS: disk, Space: space,
		Broken: func(err error) { told = append(told, err) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := put(t, s, "k")(); err != nil {
		t.Fatal(err)
	}
	disk.Fail(syscall.EIO)
	for range 2 {
		b, err := s.Begin()
		if err == nil {
			b.Put(s.Table("t"), "lost", []byte("v"))
			err = b.Apply()()
		}
		if !errors.Is(err, documents.ErrBroken) || !errors.Is(err, syscall.EIO) {
			t.Errorf("a write that the disk refuses: %v", err)
		}
	}
	if len(told) != 1 || !errors.Is(told[0], documents.ErrBroken) {
		t.Errorf("Broken is called with %v", told)
	}
	_ = s.Close() // it has rejected writes
}

// TestNothingToChange checks that a batch without changes waits for the visible changes that made it unnecessary.
func TestNothingToChange(t *testing.T) {
	t.Parallel()
	disk := vfs.NewCrashableMem()
	s, err := documents.Open("/documents", disk)
	if err != nil {
		t.Fatal(err)
	}
	first := put(t, s, "k") // visible, and not waited for
	if err := begin(t, s).Apply()(); err != nil {
		t.Fatal(err)
	}
	after, err := documents.Open("/documents", disk.CrashClone(vfs.CrashCloneCfg{}))
	if err != nil {
		t.Fatal(err)
	}
	if got := keys(t, after.Table("t"), "", ""); len(got) != 1 {
		t.Errorf("what a repeated request has acknowledged: %q", got)
	}
	if err := errors.Join(first(), s.Close(), after.Close()); err != nil {
		t.Error(err)
	}
}
