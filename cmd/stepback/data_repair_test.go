package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stepback/cmd/stepback/terminal"
	"stepback/engine/journal/journaltest"
	"stepback/engine/journal/pebble"
)

// Repairing an intact journal, and one that does not exist.
func TestDataRepair(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	run := func(args ...string) (int, string) {
		var out bytes.Buffer
		code := execute(t.Context(), append([]string{"data", "repair", "--data", data}, args...),
			terminal.Streams{Out: &out, Err: &out, Width: 80})
		return code, out.String()
	}
	if code, out := run(); code == 0 || !strings.Contains(out, "there is no journal in") {
		t.Errorf("%d %s", code, out)
	}
	j, err := pebble.Open(filepath.Join(data, "journal"), pebble.Config{Retention: -1})
	if err != nil {
		t.Fatal(err)
	}
	journaltest.Commit(t, j, journaltest.First(journaltest.Begun("arn:1")))
	if code, out := run(); code == 0 || !strings.Contains(out, "is another stepback using this data directory?") {
		t.Errorf("%d %s", code, out)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if code, out := run(); code != 0 || !strings.Contains(out, "recovered 1 execution, 2 records; dropped: 0; unreadable places: 0") {
		t.Errorf("%d %s", code, out)
	}
	if entries, err := os.ReadDir(data); err != nil || len(entries) != 2 || !strings.HasPrefix(entries[1].Name(), "journal.damaged-") {
		t.Errorf("%v, %v", entries, err)
	}
	if code, out := run("--json"); code != 0 || !strings.Contains(out, `"lost": []`) {
		t.Errorf("%d %s", code, out)
	}
}
