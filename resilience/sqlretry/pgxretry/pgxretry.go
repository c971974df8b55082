// Package pgxretry repeats whole pgx transactions, as package sqlretry does for database/sql.
package pgxretry

import (
	"context"

	"github.com/jackc/pgx/v5"

	"stepback/resilience"
	"stepback/resilience/sqlretry"
	"stepback/retry"
)

// Beginner begins transactions: a *pgxpool.Pool or a *pgx.Conn.
type Beginner interface {
	BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error)
}

// New is sqlretry.New.
func New(policy retry.Policy, options ...resilience.Option) (*resilience.Executor, error) {
	return sqlretry.New(policy, options...)
}

// InTx runs f in a transaction and commits it. It repeats both as long as that can help; see sqlretry.InTx.
func InTx[T any](ctx context.Context, e *resilience.Executor, db Beginner, opts pgx.TxOptions,
	f func(ctx context.Context, tx pgx.Tx) (T, error)) (T, error) {
	return resilience.Execute(ctx, e, func(ctx context.Context) (T, error) {
		var none T
		tx, err := db.BeginTx(ctx, opts)
		if err != nil {
			return none, sqlretry.BeforeCommit(err)
		}
		//nolint:errcheck // after a commit it does nothing, and otherwise f's error is what matters
		defer tx.Rollback(context.WithoutCancel(ctx))
		out, err := f(ctx, tx)
		if err != nil {
			return none, sqlretry.BeforeCommit(err)
		}
		if err := tx.Commit(ctx); err != nil {
			return none, err
		}
		return out, nil
	})
}
