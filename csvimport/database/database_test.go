package database_test

import (
	"errors"
	"path/filepath"
	"testing"

	"stepback/csvimport"
	"stepback/csvimport/database"
	"stepback/retry"
)

func TestMask(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"postgres://u:secret@host:5432/db?sslmode=disable": "postgres://u:xxxxx@host:5432/db?sslmode=disable",
		"postgres://host/db?password=secret":               "postgres://host/db?password=xxxxx",
		"sqlite:/var/lib/users.db":                         "sqlite:/var/lib/users.db",
		"postgres://u:se%zzcret@host/db":                   "postgres:…",
		"postgres://h/db?sslpassword=secret":               "postgres://h/db?sslpassword=xxxxx",
		"postgres:u:secret@host/db":                        "postgres:…",
		"host=db user=u password=secret":                   "…",
		"host=db port=1 password=a:b":                      "…",
		"oracle":                                           "oracle",
		"u:secret@host/db":                                 "u:…",
		"secretsmanager:arn:aws:secretsmanager:x":          "secretsmanager:arn:aws:secretsmanager:x",
		"": "",
	} {
		if got := database.Mask(address); got != want {
			t.Errorf("Mask(%q) is %q, want %q", address, got, want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"":                        "InvalidInput: DATABASE_URL is not set; set it to sqlite:/path/file.db or postgres://user:password@host/name",
		"sqlite:":                 "InvalidInput: the database address sqlite: lacks a path; write sqlite:/path/file.db",
		"host=db password=secret": "InvalidInput: the database address … is not understood; write sqlite:/path/file.db or postgres://user:password@host/name",
		"mysql://u:secret@host/x": "InvalidInput: the database address mysql://u:xxxxx@host/x is not understood; write sqlite:/path/file.db or postgres://user:password@host/name",
	} {
		store, err := database.Open(t.Context(), address)
		if store != nil || err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v; want %s", address, store, err, want)
		}
	}
}

// TestLazy uses a database that can be opened and one that never can.
func TestLazy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "users.db")
	lazy := database.NewLazy("sqlite:" + path)
	run := csvimport.Run{File: csvimport.Source{Bucket: "b", Key: "k", ETag: "e"}, Name: "r"}
	for range 2 {
		if outcome, err := lazy.Apply(t.Context(), run, 0, csvimport.Increment{UserID: "u",
			LoginCount: 1}); err != nil || outcome == "" {
			t.Fatalf("Apply: %s, %v", outcome, err)
		}
	}
	if got, err := lazy.Settle(t.Context(), run, []int64{0}); err != nil || got[0] != csvimport.Applied {
		t.Errorf("Settle: %v, %v", got, err)
	}
	stop := errors.New("stop")
	if err := lazy.Export(t.Context(), func(csvimport.User) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Export: %v", err)
	}
	if err := lazy.Close(); err != nil {
		t.Error(err)
	}
	broken := database.NewLazy("sqlite:" + t.TempDir())
	for range 2 {
		if _, err := broken.Apply(t.Context(), run, 0,
			csvimport.Increment{UserID: "u"}); csvimport.AsFailure(err).Name != retry.StorageError {
			t.Errorf("a directory opened as a database: %v", err)
		}
	}
	if err := broken.Close(); err != nil {
		t.Error(err)
	}
}

func TestSQLitePath(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]struct {
		path, options string
		ok            bool
	}{
		"sqlite:/a/users.db":                        {"/a/users.db", "", true},
		"sqlite:///a/users.db":                      {"/a/users.db", "", true},
		"sqlite:users.db?synchronous=normal":        {"users.db", "synchronous=normal", true},
		"sqlite:/why? x=1#2/users.db":               {"/why? x=1#2/users.db", "", true},
		"sqlite:/why?/b?/users.db?synchronous=full": {"/why?/b?/users.db", "synchronous=full", true},
		"sqlite:": {"", "", true},
		"postgres://host/users.db?synchronous_commit=1": {"", "", false},
	} {
		if path, options, ok := database.SQLitePath(address); path != want.path || options != want.options ||
			ok != want.ok {
			t.Errorf("SQLitePath(%q) is %q, %q, %v; want %+v", address, path, options, ok, want)
		}
	}
}

// TestDirectoryWithQuestionMark writes and reads a database in a directory whose name looks like the options of an
// address.
func TestDirectoryWithQuestionMark(t *testing.T) {
	t.Parallel()
	address := "sqlite:" + filepath.Join(t.TempDir(), "what? 100%#1&mode=ro", "users.db")
	store, err := database.Open(t.Context(), address+"?synchronous=normal")
	if err != nil {
		t.Fatal(err)
	}
	run := csvimport.Run{File: csvimport.Source{Bucket: "b", Key: "k", ETag: "e"}, Name: "r"}
	if _, err := store.Apply(t.Context(), run, 0, csvimport.Increment{UserID: "u", LoginCount: 1}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	reader, err := database.OpenReader(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	users := 0
	if err := reader.Export(t.Context(), func(csvimport.User) error { users++; return nil }); err != nil || users != 1 {
		t.Errorf("%d users, %v; want 1", users, err)
	}
	if err := reader.Close(); err != nil {
		t.Error(err)
	}
}
