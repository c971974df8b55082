package sqlitestore_test

import (
	"context"
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"stepback/outbox"
	"stepback/outbox/outboxtest"
	"stepback/outbox/sqlitestore"
)

// openAt opens the outbox in a file, and the application's own connections to it.
func openAt(t testing.TB, path string, o sqlitestore.Config) *outboxtest.Table {
	t.Helper()
	s, err := sqlitestore.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &outboxtest.Table{
		Store:   s,
		Letters: s,
		Write: func(ctx context.Context, commit bool, messages ...outbox.Message) error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback() }() // does nothing after a commit
			if err := sqlitestore.Write(ctx, tx, messages...); err != nil || !commit {
				return err
			}
			return tx.Commit()
		},
	}
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	outboxtest.Run(t, func(t testing.TB) *outboxtest.Table {
		t.Helper()
		return openAt(t, filepath.Join(t.TempDir(), "app.db"), sqlitestore.Config{})
	})
}

// Files that Open creates are readable for their owner alone, messages in the write-ahead log too.
func TestFilesAreForTheirOwner(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("permissions are not those of Unix")
	}
	dir := filepath.Join(t.TempDir(), "new")
	openAt(t, filepath.Join(dir, "app.db"), sqlitestore.Config{})
	for path, want := range map[string]fs.FileMode{dir: 0o700, filepath.Join(dir, "app.db"): 0o600, filepath.Join(dir, "app.db-wal"): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has the permissions %o, want %o", path, got, want)
		}
	}
}
