package pebble_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/journaltest"
	"stepback/engine/journal/pebble"
)

func open(t testing.TB, dir string) *pebble.Journal {
	t.Helper()
	j, err := pebble.Open(dir, pebble.Config{Retention: -1})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestJournal(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, func(t *testing.T) journal.Journal {
		t.Helper()
		j := open(t, t.TempDir())
		t.Cleanup(func() {
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		})
		return j
	})
}

func TestVolatileJournal(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, func(t *testing.T) journal.Journal {
		t.Helper()
		disk := vfs.NewMem()
		j, err := pebble.Open("journal", pebble.Config{FS: disk, Retention: -1, Volatile: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			names, err := disk.List("journal")
			if err != nil {
				t.Error(err)
			}
			for _, name := range names {
				if info, err := disk.Stat("journal/" + name); strings.HasSuffix(name, ".log") && (err != nil || info.Size() > 0) {
					t.Errorf("%s: %v %v", name, info, err)
				}
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		})
		return j
	})
}

func TestReopenedStoreKeepsExecutions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir)
	x := &journal.Execution{Info: history.Info{ARN: "arn:1"}, Status: history.Succeeded, Output: "1"}
	j.Commit(&journal.Record{Execution: x, End: true, All: []history.Event{{ID: 1, Type: history.ExecutionSucceeded,
		Data: "1"}}}, func(err error) {
		if err != nil {
			t.Error(err)
		}
	})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = open(t, dir)
	defer j.Close()
	if got, err := j.Execution(context.Background(), "arn:1"); err != nil || got.Output != "1" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestOneProcessPerDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir)
	defer j.Close()
	if _, err := pebble.Open(dir, pebble.Config{}); err == nil || !strings.Contains(err.Error(),
		"is another stepback using this data directory?") {
		t.Errorf("second Open: %v", err)
	}
}
