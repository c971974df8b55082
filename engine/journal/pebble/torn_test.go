package pebble_test

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/journaltest"
	"stepback/engine/journal/pebble"
)

// log returns the name and the content of a store's newest log.
func log(t *testing.T, disk vfs.FS) (name string, content []byte) {
	t.Helper()
	names, err := disk.List("journal")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	for _, n := range names {
		if filepath.Ext(n) == ".log" {
			name = "journal/" + n
		}
	}
	f, err := disk.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if content, err = io.ReadAll(f); err != nil {
		t.Fatal(err)
	}
	return name, content
}

// TestATornLogLosesAtMostWhatWasNotSynced cuts the log at every byte of the last record and damages every byte of it,
// as a power failure during the write might. Everything synced before must exist; the last record must exist
// completely or not at all.
func TestATornLogLosesAtMostWhatWasNotSynced(t *testing.T) {
	t.Parallel()
	disk := vfs.NewMem()
	j, err := pebble.Open("journal", pebble.Config{FS: disk, Retention: -1})
	if err != nil {
		t.Fatal(err)
	}
	first, last := journaltest.Begun("arn:first"), journaltest.Begun("arn:last")
	journaltest.Commit(t, j, journaltest.First(first))
	journaltest.Commit(t, j, journaltest.Second(first))
	_, before := log(t, disk)
	end := journaltest.Last(last, history.Succeeded) // a description, a history and the end: three keys in one record
	end.Begin, end.Step = true, 0
	journaltest.Commit(t, j, end)
	name, whole := log(t, disk)
	if len(whole) <= len(before) || string(whole[:len(before)]) != string(before) {
		t.Fatalf("the log has %d bytes, and %d before the last record", len(whole), len(before))
	}
	here := vfs.NewMem() // as a crash leaves it, never closed
	if _, err := vfs.Clone(disk, here, "journal", "journal"); err != nil {
		t.Fatal(err)
	}
	lost := 0
	for at := len(before); at <= len(whole); at++ {
		for _, torn := range [][]byte{whole[:at], slices.Concat(whole[:at], make([]byte, len(whole)-at)),
			damagedAt(whole, at)} {
			if !reopen(t, here, name, torn) {
				lost++
			}
		}
	}
	if n := len(whole) - len(before); lost < n {
		t.Errorf("of %d bytes cut or damaged only %d lost the record", n, lost)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

func damagedAt(whole []byte, at int) []byte {
	torn := slices.Clone(whole)
	if at < len(torn) {
		torn[at] ^= 0xFF
	}
	return torn
}

// reopen opens a store with a different log and reports whether its last record exists.
func reopen(t *testing.T, crashed *vfs.MemFS, name string, content []byte) bool {
	t.Helper()
	disk := vfs.NewMem()
	if _, err := vfs.Clone(crashed, disk, "journal", "journal"); err != nil {
		t.Fatal(err)
	}
	f, err := disk.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(slices.Clone(content)); err != nil { // under the race detector the write modifies the buffer
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	j, err := pebble.Open("journal", pebble.Config{FS: disk, Retention: -1})
	if err != nil {
		t.Fatalf("with %d bytes of the log: %v", len(content), err)
	}
	defer j.Close()
	steps := 0
	for u, err := range j.Unfinished(t.Context(), "") {
		if err != nil || u.ARN != "arn:first" {
			t.Errorf("unfinished: %+v, %v", u, err)
		}
		steps = len(u.Steps)
	}
	if steps != 2 {
		t.Errorf("with %d bytes of the log %d of the 2 steps that were synced are there", len(content), steps)
	}
	x, err := j.Execution(t.Context(), "arn:last")
	_, without := j.History(t.Context(), "arn:last")
	if errors.Is(err, journal.ErrNotFound) != errors.Is(without, journal.ErrNotFound) {
		t.Errorf("with %d bytes of the log half of a record is there: %v, %v", len(content), err, without)
	}
	if err == nil && x.Status != history.Succeeded {
		t.Errorf("%+v", x)
	}
	return err == nil
}
