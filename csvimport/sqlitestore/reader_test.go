package sqlitestore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stepback/csvimport"
)

// counted creates a database with two users and returns its store, still open.
func counted(t *testing.T) (string, *Store) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a b#.db")
	s, err := Open(t.Context(), path, Full)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // may close it a second time
	run := csvimport.Run{File: csvimport.Source{Bucket: "b", Key: "k", ETag: "e"}, Name: "n"}
	for i, user := range []string{"bert", "anna", "bert"} {
		if _, err := s.Apply(t.Context(), run, int64(i), csvimport.Increment{UserID: user, LoginCount: 1,
			PostCount: 2}); err != nil {
			t.Fatal(err)
		}
	}
	return path, s
}

const bothUsers = "[{anna 1 2} {bert 2 4}]"

// exported returns the users that a Reader finds.
func exported(t *testing.T, path string) string {
	t.Helper()
	r, err := OpenReader(t.Context(), path)
	if err != nil {
		return err.Error()
	}
	defer r.Close()
	var users []csvimport.User
	if err := r.Export(t.Context(), func(u csvimport.User) error { users = append(users, u); return nil }); err != nil {
		return err.Error()
	}
	return fmt.Sprint(users)
}

// files returns the names in a directory.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestReaderOfADatabaseInUse(t *testing.T) {
	t.Parallel()
	path, _ := counted(t)
	if got := exported(t, path); got != bothUsers {
		t.Error(got)
	}
}

func TestReaderOfADatabaseThatIsClosed(t *testing.T) {
	t.Parallel()
	path, s := counted(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := exported(t, path); got != bothUsers {
		t.Error(got)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("reading changed the database, %v", err)
	}
}

// TestReaderOfAKilledProcess reads a copy of what a killed process leaves behind: a log that has not been written to
// the database yet.
func TestReaderOfAKilledProcess(t *testing.T) {
	t.Parallel()
	path, _ := counted(t)
	left := filepath.Join(t.TempDir(), "users.db")
	for _, part := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + part)
		if err == nil {
			err = os.WriteFile(left+part, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := exported(t, left); got != bothUsers {
		t.Error(got)
	}
	if names := files(t, filepath.Dir(left)); !slices.Contains(names, "users.db-wal") {
		t.Errorf("reading took the log away: %v", names)
	}
}

func TestReaderRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		content, want string
	}{
		"another file": {strings.Repeat("hello ", 1000), "SQLite cannot open"},
		"nothing":      {"", "is not a database of user counters"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "users.db")
			if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := exported(t, path); !strings.Contains(got, tt.want) {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
	missing := filepath.Join(t.TempDir(), "users.db")
	if got := exported(t, missing); !strings.Contains(got, "SQLite cannot open "+missing+": stat "+missing+
		": no such file or directory") {
		t.Error(got)
	}
	path, s := counted(t)
	if _, err := s.db.ExecContext(t.Context(), "PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	if got := exported(t, path); !strings.Contains(got, "schema version 99") {
		t.Error(got)
	}
}

// TestReadingByItself reads a file without SQLite's locks, and detects a write in the meantime.
func TestReadingByItself(t *testing.T) {
	t.Parallel()
	path, s := counted(t)
	if err := checkLogEmpty(path); err == nil || !strings.Contains(err.Error(), "--db sqlite:/that/directory/a b#.db") {
		t.Errorf("a log with records: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := checkLogEmpty(path); err != nil {
		t.Error(err)
	}
	r, err := openReader(context.Background(), path, "immutable")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.still, err = os.Stat(path); err != nil {
		t.Fatal(err)
	}
	visit := func(csvimport.User) error { return nil }
	if err := r.Export(t.Context(), visit); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path+"-wal", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.Export(t.Context(), visit); err == nil {
		t.Error("a log that came meanwhile is not noticed")
	}
	if err := os.Truncate(path, 1<<20); err != nil {
		t.Fatal(err)
	}
	if err := r.Export(t.Context(), visit); err == nil || !strings.Contains(err.Error(),
		"was changed while it was read") {
		t.Errorf("a file that changed meanwhile: %v", err)
	}
}
