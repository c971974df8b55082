// Package sqlretry repeats whole transactions of database/sql: those that lost a conflict (SQLSTATE 40001, 40P01,
// 55P03), and those that lost their connection before the commit. Only reading again resolves a conflict, so the
// repeated function must contain the whole transaction, both reads and writes, and nothing else. Side effects
// outside the database happen as often as the function runs.
//
// If the connection is lost during COMMIT, it is unknown whether the transaction took effect. Then it is repeated
// only if the executor is Idempotent. Package pgxretry does the same for pgx.
package sqlretry

import (
	"context"
	"database/sql"

	"stepback/resilience"
	"stepback/retry"
)

// New returns an executor for transactions, which repeats conflicts. The preset "database" and the pattern
// database_optimized are suitable policies.
func New(policy retry.Policy, options ...resilience.Option) (*resilience.Executor, error) {
	return resilience.New(
		policy,
		append([]resilience.Option{resilience.WithRepeatConflicts()}, options...)...)
}

// InTx runs f in a transaction and commits it. It repeats both as long as that can help. If f returns an error, the
// transaction is rolled back, and repeated if the error's class permits. If f panics, the transaction is rolled
// back and the panic passes through. The error is a *resilience.Error. opts may be nil.
func InTx[T any](ctx context.Context, e *resilience.Executor, db *sql.DB, opts *sql.TxOptions,
	f func(ctx context.Context, tx *sql.Tx) (T, error)) (T, error) {
	return resilience.Execute(ctx, e, func(ctx context.Context) (T, error) {
		var none T
		tx, err := db.BeginTx(ctx, opts)
		if err != nil {
			return none, BeforeCommit(err)
		}
		defer tx.Rollback() //nolint:errcheck // after a commit it does nothing, and otherwise f's error is what matters
		out, err := f(ctx, tx)
		if err != nil {
			return none, BeforeCommit(err)
		}
		if err := tx.Commit(); err != nil {
			return none, err
		}
		return out, nil
	})
}

// BeforeCommit marks an error of a transaction that was not committed: an unknown outcome becomes transient, because
// the database rolls back.
func BeforeCommit(err error) error {
	c, known := retry.Classify(err)
	if known && c.Class == retry.UnknownOutcome {
		return resilience.Mark(err, retry.Transient, c.Error)
	}
	return err
}
