package postgresstore

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"stepback/csvimport"
	"stepback/internal/pgxlimits"
)

// Export implements csvimport.Store. A single SELECT sees a consistent state of the table.
func (s *Store) Export(ctx context.Context, visit func(csvimport.User) error) error {
	// Reading a large table may take longer than the statement of a single record, and visit may take any time.
	ctx = pgxlimits.Within(ctx, 0)
	err := pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0"); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, "SELECT user_id, login_count, post_count FROM users ORDER BY user_id")
		if err != nil {
			return err
		}
		var u csvimport.User
		_, err = pgx.ForEachRow(rows, []any{&u.UserID, &u.LoginCount, &u.PostCount}, func() error {
			if err := visit(u); err != nil {
				return &visitError{err}
			}
			return nil
		})
		return err
	})
	var stopped *visitError
	if errors.As(err, &stopped) {
		return stopped.err
	}
	if err != nil {
		return failure("read the users", err)
	}
	return nil
}

// visitError carries an error of the caller's visit function through the transaction, so that it is not given a
// name.
type visitError struct{ err error }

func (e *visitError) Error() string { return e.err.Error() }
