package ownerfs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"stepback/internal/ownerfs"
)

// TestSystem opens a store in a directory that others may read, and expects permissions of its owner alone.
func TestSystem(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("permissions are not those of Unix")
	}
	dir := filepath.Join(t.TempDir(), "store")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	db, err := pebble.Open(dir, &pebble.Options{FS: ownerfs.System})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Set([]byte("a"), []byte("b"), pebble.Sync); err != nil {
		t.Fatal(err)
	}
	if err := db.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	files := 0
	if err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		want := ownerfs.File
		if e.IsDir() {
			want = ownerfs.Dir
		} else {
			files++
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has the permissions %o, want %o", path, got, want)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if files < 4 {
		t.Errorf("the store has %d files", files)
	}
	if changed, err := ownerfs.Tighten(dir); changed || err != nil {
		t.Errorf("tightened again: %v, %v", changed, err)
	}
}
