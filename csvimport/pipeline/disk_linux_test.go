package pipeline_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"stepback/csvimport/pipeline"
)

// TestTheDatabasesDiskIsFull puts the database on a file system of a few hundred kilobytes, which it enlarges
// afterwards.
func TestTheDatabasesDiskIsFull(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=300k"); err != nil {
		t.Skipf("a small file system cannot be mounted here (it takes root on Linux): %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	rows := activities(12_000, 0)
	tr := newTrial(t, "activity.csv", plain(rows))
	tr.cfg.Database = "sqlite:" + filepath.Join(disk, "users.db")
	r := tr.run(t, false)
	if r.Verdict() != pipeline.Unsuccessful || r.Error != "StorageError" || !strings.Contains(r.Cause,
		"free space on the disk") {
		t.Errorf("%s in %s: %s", r.Error, r.State, r.Cause)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, "size=20m"); err != nil {
		t.Fatal(err)
	}
	tr.tolerate(100) // rows that were settled while there was space for that stay closed
	r = tr.run(t, true)
	if r.Status != "SUCCEEDED" {
		t.Errorf("%s: %s", r.Error, r.Cause)
	}
	tr.accounts(t, r, rows)
	if r.Rows.AlreadyApplied == 0 {
		t.Error("nothing had been applied while there was room")
	}
}
