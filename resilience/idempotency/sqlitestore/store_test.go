package sqlitestore_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"stepback/resilience/idempotency"
	"stepback/resilience/idempotency/sqlitestore"
	"stepback/resilience/idempotency/storetest"
)

func open(t testing.TB, path string, d sqlitestore.Durability) *sqlitestore.Store {
	t.Helper()
	s, err := sqlitestore.Open(context.Background(), path, d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestSuite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sub", "keys.db")
	storetest.Run(t, true, func(t *testing.T) idempotency.Store { return open(t, path, sqlitestore.Normal) })
}

func TestClosed(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "keys.db"), sqlitestore.Full)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Release(t.Context(), "k", "t"); err == nil {
		t.Error("a closed store answered")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Begin(ctx, idempotency.Claim{Key: "k"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

// Files that Open creates are readable for their owner alone, answers in the write-ahead log too.
func TestFilesAreForTheirOwner(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("permissions are not those of Unix")
	}
	dir := filepath.Join(t.TempDir(), "new")
	open(t, filepath.Join(dir, "keys.db"), sqlitestore.Normal)
	for path, want := range map[string]fs.FileMode{dir: 0o700, filepath.Join(dir, "keys.db"): 0o600, filepath.Join(dir, "keys.db-wal"): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has the permissions %o, want %o", path, got, want)
		}
	}
}

// BenchmarkRequests measures whole requests, claimed and finished, by 16 clients.
func BenchmarkRequests(b *testing.B) {
	for _, d := range []sqlitestore.Durability{sqlitestore.Full, sqlitestore.Normal} {
		b.Run(string(d), func(b *testing.B) {
			guard, err := idempotency.New(open(b, filepath.Join(b.TempDir(), "keys.db"), d), idempotency.Config{})
			if err != nil {
				b.Fatal(err)
			}
			storetest.Requests(b, guard)
		})
	}
}
