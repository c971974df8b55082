package documents_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/local/services/documents"
)

// killed returns the directory of a store with n acknowledged documents, as a killed process leaves it.
func killed(t *testing.T, n int) string {
	t.Helper()
	from := filepath.Join(t.TempDir(), "documents")
	s, err := documents.Open(from, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	table := s.Table("t")
	for i := range n {
		b := begin(t, s)
		b.Put(table, fmt.Sprintf("%05d", i), fmt.Appendf(nil, "%0500d", i*7919))
		if err := b.Apply()(); err != nil {
			t.Fatal(err)
		}
	}
	to := filepath.Join(t.TempDir(), "documents")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

func logOf(t *testing.T, dir string) string {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatal(logs, err)
	}
	return slices.Max(logs)
}

// TestACutLogIsTold cuts the log at many places: each loses at least one acknowledged document, and the store says so
// at each opening until it is repaired.
func TestACutLogIsTold(t *testing.T) {
	t.Parallel()
	const n = 40
	whole := killed(t, n)
	content, err := os.ReadFile(logOf(t, whole))
	if err != nil {
		t.Fatal(err)
	}
	for _, length := range []int{0, 1, 700, len(content) / 2, len(content) - 600, len(content) - 1} {
		dir := filepath.Join(t.TempDir(), "documents")
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(logOf(t, dir), int64(length)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			s, err := documents.Open(dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			there := len(keys(t, s.Table("t"), "", ""))
			var told []string
			if _, err := s.Check(t.Context(), func(err error) { told = append(told, err.Error()) }); err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf("%d changes that had been on the disk are missing", n-there)
			if n-there == 1 {
				want = "1 change that had been on the disk is missing"
			}
			if lost := s.LostTails(); there >= n || len(lost) != 1 || len(told) != 1 || !strings.Contains(told[0],
				want) ||
				!strings.Contains(told[0], dir) || !strings.Contains(told[0], "stepback data repair") {
				t.Errorf("cut to %d: %d documents, %v, %q, want %q", length, there, lost, told, want)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		told := 0
		if _, err := documents.Repair(t.Context(), dir, func(error) { told++ }); err != nil || told != 1 {
			t.Fatal(told, err)
		}
		s, err := documents.View(dir)
		if err != nil || len(s.LostTails()) != 0 {
			t.Fatal(s.LostTails(), err)
		}
		if _, err := s.Begin(); !errors.Is(err, documents.ErrReadOnly) {
			t.Errorf("a change of a store that is open for reading: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAnUndamagedCrashIsNotTold opens what a killed process and a crashed machine leave.
func TestAnUndamagedCrashIsNotTold(t *testing.T) {
	t.Parallel()
	s, err := documents.Open(killed(t, 10), nil)
	if err != nil || len(s.LostTails()) != 0 || len(keys(t, s.Table("t"), "", "")) != 10 {
		t.Fatal(s.LostTails(), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	disk := vfs.NewCrashableMem()
	if s, err = documents.Open("/documents", disk); err != nil {
		t.Fatal(err)
	}
	b := begin(t, s)
	b.Put(s.Table("t"), "a", []byte("1"))
	if err := b.Apply()(); err != nil {
		t.Fatal(err)
	}
	again, err := documents.Open("/documents", disk.CrashClone(vfs.CrashCloneCfg{}))
	if err != nil || len(again.LostTails()) != 0 || len(keys(t, again.Table("t"), "", "")) != 1 {
		t.Fatal(again.LostTails(), err)
	}
	for _, s := range []*documents.Store{s, again} {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestADamagedTableIsRefusedAndRepaired flips a byte of a table.
func TestADamagedTableIsRefusedAndRepaired(t *testing.T) {
	t.Parallel()
	const n = 400
	dir := killed(t, n)
	s, err := documents.Open(dir, nil) // writes the log into a table
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	content, err := os.ReadFile(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	if err := os.WriteFile(tables[0], content, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := documents.Open(dir, nil); err == nil || !strings.Contains(err.Error(), filepath.Base(tables[0])+" is damaged") ||
		!strings.Contains(err.Error(), "stepback data repair") || strings.Contains(err.Error(), "\n") {
		t.Fatalf("opened: %v", err)
	}
	told := 0
	found, err := documents.Repair(t.Context(), dir, func(error) { told++ })
	if err != nil || told == 0 || found.Unreadable != told || found.Records < n/2 || found.Records >= n {
		t.Fatalf("%+v, told of %d, %v", found, told, err)
	}
	if s, err = documents.Open(dir, nil); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := keys(t, s.Table("t"), "", ""); len(got) != found.Records {
		t.Errorf("%d documents, %d were saved", len(got), found.Records)
	}
}
