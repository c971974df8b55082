package pebble_test

import (
	"os"
	"path/filepath"
	"testing"

	"stepback/engine/journal/pebble"
)

// A store opens even if its directory contains part of a table whose writing was interrupted by a crash or a full
// disk.
func TestHalfATableThatNobodyNamesIsNoDamage(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "journal")
	for range 2 {
		j, err := pebble.Open(dir, pebble.Config{Retention: -1})
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "000999.sst"), []byte("half a table"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
