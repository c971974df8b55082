package sqlitestore_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/csvimport"
	"stepback/csvimport/sqlitestore"
)

// TestCheckFindsACutDatabase checks a sound database, and one of which the second half is missing.
func TestCheckFindsACutDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "users.db")
	s := open(t, path)
	if _, err := s.Apply(t.Context(), csvimport.Run{File: csvimport.Source{Bucket: "b", Key: "k", ETag: "e"}, Name: "r"}, 0,
		csvimport.Increment{UserID: "u", LoginCount: 1}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := sqlitestore.Check(t.Context(), path); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()/2); err != nil {
		t.Fatal(err)
	}
	if err := sqlitestore.Check(t.Context(), path); err == nil || !strings.Contains(err.Error(), path+" is damaged") {
		t.Errorf("the cut database: %v", err)
	}
}

// TestNoChangedByteIsSilent changes bytes of a closed database, its header included, one at a time. Check must report
// each of them, and reading must fail or return what was written.
func TestNoChangedByteIsSilent(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "users.db")
	s := open(t, path)
	var rows []csvimport.Row
	for i := range 3000 {
		rows = append(rows, csvimport.Row{Number: int64(i), Increment: csvimport.Increment{UserID: fmt.Sprintf("user-%d", i%700),
			LoginCount: int64(i)}})
	}
	run := csvimport.Run{File: csvimport.Source{Bucket: "b", Key: "k", ETag: "e"}, Name: "r"}
	if _, err := s.ApplyBatch(t.Context(), run, rows); err != nil {
		t.Fatal(err)
	}
	want := exported(t.Context(), s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var places []int
	for at := range 100 {
		places = append(places, at)
	}
	for at := 100; at < len(sound); at += 1 + len(sound)/100 {
		places = append(places, at)
	}
	for _, at := range places {
		for _, mask := range []byte{1 << (at % 8), 8, 0xff} {
			text := slices.Clone(sound)
			text[at] ^= mask
			changed := filepath.Join(t.TempDir(), "users.db")
			if err := os.WriteFile(changed, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := sqlitestore.Check(t.Context(), changed); err == nil || !strings.Contains(err.Error(), changed+" is damaged") {
				t.Errorf("byte %d ^ %#x: %v", at, mask, err)
			}
			r, err := sqlitestore.OpenReader(t.Context(), changed)
			if err != nil {
				continue
			}
			if got := exported(t.Context(), r); got != want && !strings.HasPrefix(got, "error") {
				t.Errorf("byte %d ^ %#x: other users are read", at, mask)
			} else if at > 4096 && got != want && !strings.Contains(got, "does not have the checksum") {
				t.Errorf("byte %d ^ %#x: %s", at, mask, got)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// exported returns all users as text, or a text that begins with "error".
func exported(ctx context.Context, s interface {
	Export(ctx context.Context, visit func(csvimport.User) error) error
}) string {
	var all strings.Builder
	if err := s.Export(ctx, func(u csvimport.User) error {
		fmt.Fprintln(&all, u.UserID, u.LoginCount, u.PostCount)
		return nil
	}); err != nil {
		return "error: " + err.Error()
	}
	return all.String()
}

// TestADamagedLogIsReported changes a byte of a write-ahead log that a killed process has left. The database is not
// opened until RepairLog has cut the log.
func TestADamagedLogIsReported(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "users.db")
	s := open(t, path)
	run := csvimport.Run{File: csvimport.Source{Bucket: "b", Key: "k", ETag: "e"}, Name: "r"}
	for i := range int64(9) {
		if _, err := s.Apply(t.Context(), run, i, csvimport.Increment{UserID: "u", LoginCount: 1}); err != nil {
			t.Fatal(err)
		}
	}
	left := filepath.Join(t.TempDir(), "users.db")
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if suffix != "" {
			text[len(text)/2] ^= 4
		}
		if err := os.WriteFile(left+suffix, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, opened := sqlitestore.Open(t.Context(), left, sqlitestore.Full)
	_, read := sqlitestore.OpenReader(t.Context(), left)
	for _, err := range []error{opened, read, sqlitestore.Check(t.Context(), left)} {
		if err == nil || !strings.Contains(err.Error(), left+"-wal is damaged: frame ") {
			t.Errorf("the damaged log: %v", err)
		}
	}
	lost, err := sqlitestore.RepairLog(left, time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC))
	if err != nil || lost == nil || !strings.Contains(lost.Error(), left+"-wal.damaged-20261127T120000.000000Z") {
		t.Errorf("the repair: %v, %v", lost, err)
	}
	if err := sqlitestore.Check(t.Context(), left); err != nil {
		t.Error(err)
	}
	s = open(t, left)
	if got := exported(t.Context(), s); !strings.HasPrefix(got, "u ") || got == "u 9 0\n" {
		t.Errorf("after the repair: %q", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if lost, err := sqlitestore.RepairLog(left, time.Now()); lost != nil || err != nil {
		t.Errorf("the second repair: %v, %v", lost, err)
	}
}
