package sqlitestore_test

import (
	"context"
	"database/sql"
	"path/filepath"
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
		Store: s,
		Room:  s,
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
