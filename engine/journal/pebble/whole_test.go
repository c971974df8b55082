package pebble_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"stepback/engine/journal/journaltest"
	"stepback/engine/journal/pebble"
)

// content returns the content of a store's files by name.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		found[filepath.Base(name)] = string(b)
	}
	return found
}

// killed returns a store in the state left when its process is killed before any table is written.
func killed(t *testing.T) string {
	t.Helper()
	from, to := t.TempDir(), t.TempDir()
	j := open(t, from)
	defer j.Close()
	journaltest.Commit(t, j, journaltest.First(journaltest.Begun("m:running")))
	for name, b := range content(t, from) {
		if err := os.WriteFile(filepath.Join(to, name), []byte(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// TestAStoreThatHasLostItsManifestIsRefusedAndKept removes the files that list the tables. Pebble would start a new
// store and remove the tables of the old one.
func TestAStoreThatHasLostItsManifestIsRefusedAndKept(t *testing.T) {
	t.Parallel()
	each := func(t *testing.T, dir, pattern string, do func(name string) error) {
		t.Helper()
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(names) == 0 {
			t.Fatal(names, err)
		}
		for _, name := range names {
			if err := do(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	const firstRecord = 60 // at most: the second record ends later
	for name, c := range map[string]struct {
		store func(*testing.T) string
		harm  func(t *testing.T, dir string)
		want  string
	}{
		"no marker": {sound, func(t *testing.T, dir string) { t.Helper(); each(t, dir, "marker.manifest*", os.Remove) },
			"but the marker.manifest file"},
		"no marker, and no tables yet": {
			killed, func(t *testing.T, dir string) { t.Helper(); each(t, dir, "marker.manifest*", os.Remove) },
			"but the marker.manifest file",
		},
		"nothing but tables": {
			sound, func(t *testing.T, dir string) { t.Helper(); each(t, dir, "[^0]*", os.Remove) },
			"but the marker.manifest file",
		},
		"a manifest that is cut": {sound, func(t *testing.T, dir string) {
			t.Helper()
			each(t, dir, "MANIFEST*", func(name string) error { return os.Truncate(name, firstRecord) })
			each(t, dir, "*.log", func(name string) error { return os.Truncate(name, 0) })
		}, "MANIFEST"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := c.store(t)
			c.harm(t, dir)
			before := content(t, dir)
			delete(before, "LOCK") // which even a refused attempt to open creates
			for _, readOnly := range []bool{true, false} {
				j, err := pebble.Open(dir, pebble.Config{ReadOnly: readOnly, MustExist: readOnly})
				if err == nil {
					t.Errorf("read only %t: it is opened", readOnly)
					_ = j.Close()
				} else if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "restore a backup") ||
					strings.Contains(err.Error(), "\n") {
					t.Errorf("read only %t: %v", readOnly, err)
				}
			}
			after := content(t, dir)
			delete(after, "LOCK")
			if !reflect.DeepEqual(before, after) {
				t.Errorf("the files are others than before")
			}
		})
	}
}
