package postgresstore_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver for database/sql

	"stepback/csvimport/postgresstore/postgrestest"
	"stepback/outbox"
	"stepback/outbox/outboxtest"
	"stepback/outbox/postgresstore"
)

func open(t testing.TB, url string) *postgresstore.Store {
	t.Helper()
	s, err := postgresstore.Open(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// openPgx opens a table for an application that uses pgx.
func openPgx(t testing.TB, url string) *outboxtest.Table {
	t.Helper()
	s := open(t, url)
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return &outboxtest.Table{
		Store:   s,
		Letters: s,
		Write: func(ctx context.Context, commit bool, messages ...outbox.Message) error {
			tx, err := pool.Begin(ctx)
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback(ctx) }() // does nothing after a commit
			if err := postgresstore.Write(ctx, tx, messages...); err != nil || !commit {
				return err
			}
			return tx.Commit(ctx)
		},
	}
}

// openSQL opens a table for an application that uses database/sql.
func openSQL(t testing.TB, url string) *outboxtest.Table {
	t.Helper()
	s := open(t, url)
	db, err := sql.Open("pgx", url)
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
			if err := postgresstore.WriteSQL(ctx, tx, messages...); err != nil || !commit {
				return err
			}
			return tx.Commit()
		},
	}
}

func TestPostgreSQL(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	t.Run("Pgx", func(t *testing.T) {
		outboxtest.Run(t, func(t testing.TB) *outboxtest.Table {
			t.Helper()
			return openPgx(t, server.Database(t))
		})
	})
	t.Run("DatabaseSQL", func(t *testing.T) {
		outboxtest.RunWrite(t, func(t testing.TB) *outboxtest.Table {
			t.Helper()
			return openSQL(t, server.Database(t))
		})
	})
}
