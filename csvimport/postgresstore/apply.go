package postgresstore

import (
	"context"
	"errors"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"stepback/csvimport"
	"stepback/csvimport/ledger"
	"stepback/retry"
)

const (
	claimRow   = "INSERT INTO import_rows (file_id, row_number, fingerprint, run_id) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING"
	findRow    = "SELECT fingerprint, run_id FROM import_rows WHERE file_id = $1 AND row_number = $2"
	readUser   = "SELECT login_count, post_count, version FROM users WHERE user_id = $1"
	addUser    = "INSERT INTO users (user_id, login_count, post_count, version) VALUES ($1, $2, $3, 1) ON CONFLICT DO NOTHING"
	updateUser = "UPDATE users SET login_count = $2, post_count = $3, version = version + 1 WHERE user_id = $1 AND version = $4"
)

// Apply implements csvimport.Store.
func (s *Store) Apply(ctx context.Context, run csvimport.Run, row int64, inc csvimport.Increment) (csvimport.Outcome,
	error) {
	n, err := s.number(ctx, run)
	if err != nil {
		return "", err
	}
	var outcome csvimport.Outcome
	err = pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		a := application{tx: tx, inc: inc}
		claimed, err := a.claim(ctx, n, row)
		if err != nil {
			return err
		}
		if !claimed {
			if outcome, err = a.repeat(ctx, n, run.File, row); err == nil && a.claimed {
				return errTaken // rolls the claim back
			}
			return err
		}
		outcome = csvimport.Applied
		return a.count(ctx)
	})
	if err != nil && !errors.Is(err, errTaken) {
		return "", failure("apply a record", err)
	}
	return outcome, nil
}

// errTaken rolls back the transaction of a row that a batch has already counted.
var errTaken = errors.New("a batch has counted the row")

// application is one record in its transaction.
type application struct {
	tx      pgx.Tx
	inc     csvimport.Increment
	user    userRow
	block   ledger.Entry // the row's entry in its block
	claimed bool         // this transaction inserted a separate key for the row
}

type userRow struct {
	found                 bool
	logins, posts, number int64 // number is the user's version
}

// claim inserts the idempotency key, reads the entry that batches have written for the row, and reads the user, all
// in one round trip. It reports whether the row was open. It waits for a concurrent claim of the same key, and for
// a batch on the same block.
func (a *application) claim(ctx context.Context, n numbers, row int64) (bool, error) {
	number, place := ledger.BlockOf(row)
	var batch pgx.Batch
	batch.Queue(lockShared, lockOf(n.file, number))
	batch.Queue(findBlock, n.file, number)
	batch.Queue(claimRow, n.file, row, a.inc.Fingerprint(), n.runID())
	batch.Queue(readUser, a.inc.UserID)
	results := a.tx.SendBatch(ctx, &batch)
	_, err := results.Exec()
	if err == nil {
		a.block, err = entryAt(results.QueryRow(), place)
	}
	if err == nil {
		var tag pgconn.CommandTag
		tag, err = results.Exec()
		a.claimed = tag.RowsAffected() == 1
	}
	if err == nil {
		err = a.user.scan(results.QueryRow())
	}
	if closing := results.Close(); err == nil {
		err = closing
	}
	return a.claimed && a.block.Open(), err
}

func (u *userRow) scan(row pgx.Row) error {
	err := row.Scan(&u.logins, &u.posts, &u.number)
	u.found = err == nil
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// repeat returns the outcome of a row that is not open.
func (a *application) repeat(ctx context.Context, n numbers, file csvimport.Source, row int64) (csvimport.Outcome,
	error) {
	entry := a.block
	if entry.Open() {
		var fingerprint, by *int64
		if err := a.tx.QueryRow(ctx, findRow, n.file, row).Scan(&fingerprint, &by); err != nil {
			return "", err
		}
		entry = entryOf(fingerprint, by)
	}
	answer := entry.Repeat(n.run, file, row, a.inc.Fingerprint())
	return answer.Outcome, answer.Err
}

// count adds the increment to the user as claim read it. If another transaction changed the user in the meantime,
// count reads the user again under a row lock, which rules out further changes.
func (a *application) count(ctx context.Context) error {
	if won, err := a.write(ctx); won || err != nil {
		return lostRace(err)
	}
	if err := a.user.scan(a.tx.QueryRow(ctx, readUser+" FOR UPDATE", a.inc.UserID)); err != nil {
		return lostRace(err)
	}
	won, err := a.write(ctx)
	if !won && err == nil {
		return csvimport.Fail(retry.OptimisticLockException,
			"user %q was changed by other transactions twice during one transaction; nothing was changed", a.inc.UserID)
	}
	return lostRace(err)
}

// write makes the optimistic update. It reports whether the user was unchanged since it was read.
func (a *application) write(ctx context.Context) (bool, error) {
	if !a.user.found {
		tag, err := a.tx.Exec(ctx, addUser, a.inc.UserID, a.inc.LoginCount, a.inc.PostCount)
		return tag.RowsAffected() == 1, err
	}
	if a.user.logins > math.MaxInt64-a.inc.LoginCount || a.user.posts > math.MaxInt64-a.inc.PostCount {
		return false, csvimport.CounterOverflow(a.inc)
	}
	tag, err := a.tx.Exec(ctx, updateUser, a.inc.UserID, a.user.logins+a.inc.LoginCount, a.user.posts+a.inc.PostCount,
		a.user.number)
	return tag.RowsAffected() == 1, err
}

// lostRace converts a timeout waiting for the lock on the user's row to OptimisticLockException.
func lostRace(err error) error {
	if isLockTimeout(err) {
		return csvimport.Fail(retry.OptimisticLockException,
			"the user's row stayed locked by other transactions for longer than lock_timeout; nothing was changed: %w",
			err)
	}
	return err
}
