// Package sqlitewal turns on SQLite's write-ahead log.
package sqlitewal

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"modernc.org/sqlite"
)

// busy is the primary result code SQLITE_BUSY.
const busy = 5

// Execer is implemented by *sql.DB and *sql.Conn.
type Execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Use turns on the write-ahead log, a setting that is stored in the database file. SQLite does not wait for other
// processes that do the same concurrently (its busy timeout does not cover this), so Use retries for up to five
// seconds.
func Use(ctx context.Context, db Execer) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for {
		_, err := db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
		if code, ok := errors.AsType[*sqlite.Error](err); !ok || code.Code()&0xff != busy {
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
