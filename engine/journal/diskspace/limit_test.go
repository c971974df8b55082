package diskspace_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"stepback/engine/journal/diskspace"
)

// TestLimit fills a directory beyond its limit, which the next count notices, and deletes the file again.
func TestLimit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var states []diskspace.State
		s := diskspace.New(diskspace.Config{Limit: 1e6, Dir: dir,
			Changed: func(s diskspace.State) { states = append(states, s) }})
		if !s.Admits() || s.Describe() != "" {
			t.Error("an empty directory is refused")
		}
		file := filepath.Join(dir, "deep", "file")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, make([]byte, 3_000_000), 0o600); err != nil {
			t.Fatal(err)
		}
		if !s.Admits() {
			t.Error("files are counted more than once a second")
		}
		<-time.NewTimer(time.Second).C
		if s.Admits() ||
			s.Describe() != "the data take 3 MB of at most 1 MB: new work is refused until some are deleted" {
			t.Errorf("admitted with %q", s.Describe())
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		<-time.NewTimer(time.Second).C
		if !s.Admits() || s.Describe() != "" {
			t.Errorf("refused with %q", s.Describe())
		}
		if len(states) != 2 || states[0] != diskspace.Short || states[1] != diskspace.Ample {
			t.Errorf("states %v", states)
		}
	})
}
