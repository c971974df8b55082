package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"modernc.org/sqlite"
)

// useWAL turns on the write-ahead log, a setting that is stored in the database file. SQLite does not wait for other
// processes that do the same concurrently (its busy timeout does not cover this), so useWAL retries for up to five
// seconds.
func useWAL(ctx context.Context, db execer) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for {
		_, err := db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
		var code *sqlite.Error
		if err == nil || !errors.As(err, &code) || code.Code()&0xff != codeBusy {
			return err
		}
		again := time.NewTimer(5 * time.Millisecond)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return err
		}
	}
}

// execer is an *sql.DB or an *sql.Conn.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}
