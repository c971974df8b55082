package pgxretry_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"stepback/csvimport/postgresstore/postgrestest"
	"stepback/resilience"
	"stepback/resilience/sqlretry/pgxretry"
	"stepback/retry"
)

// TestSerializable increments one counter in many serializable transactions: PostgreSQL rejects all but one of those
// that run concurrently with SQLSTATE 40001, and retries let every one succeed.
func TestSerializable(t *testing.T) {
	t.Parallel()
	pool, err := pgxpool.New(t.Context(), postgrestest.Start(t).Database(t)+"&pool_max_conns=8")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if _, err := pool.Exec(t.Context(), "CREATE TABLE counts (n int); INSERT INTO counts VALUES (0)"); err != nil {
		t.Fatal(err)
	}
	e, err := pgxretry.New(
		retry.Policy{Interval: time.Millisecond, Rate: 1.5, MaxAttempts: 50, Jitter: retry.JitterFull})
	if err != nil {
		t.Fatal(err)
	}
	add := func(ctx context.Context, tx pgx.Tx) (n int, err error) {
		if err := tx.QueryRow(ctx, "SELECT n FROM counts").Scan(&n); err != nil {
			return 0, err
		}
		_, err = tx.Exec(ctx, "UPDATE counts SET n = $1", n+1)
		return n + 1, err
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 10 {
				if _, err := pgxretry.InTx(t.Context(), e, pool, pgx.TxOptions{IsoLevel: pgx.Serializable},
					add); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	var n int
	if err := pool.QueryRow(t.Context(), "SELECT n FROM counts").Scan(&n); err != nil || n != 80 {
		t.Errorf("counted %d, %v; want 80", n, err)
	}
	s := e.Statistics()
	if s.Successes != 80 || s.Retries == 0 {
		t.Errorf("%+v: no transaction was repeated", s)
	}
	_, err = pgxretry.InTx(t.Context(), e, pool, pgx.TxOptions{}, func(ctx context.Context, tx pgx.Tx) (int, error) {
		_, err := tx.Exec(ctx, "SELECT 1/0")
		return 0, err
	})
	if !errors.Is(err, resilience.ErrPermanent) {
		t.Errorf("error is %v", err)
	}
}
