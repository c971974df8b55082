package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// schemaVersion is stored in the table outbox_version: PRAGMA user_version belongs to the application.
const schemaVersion = 1

// active matches messages that are neither sent nor given up. The text is the same as in the partial indexes, so
// that SQLite uses them.
const active = "status IN ('pending', 'processing', 'failed')"

// migrations[i] migrates a database from version i to i+1. Times are microseconds since 1970.
//
// next_attempt_at is NULL for a message that is due at once, so that setting the clock cannot delay it; while a relay
// holds the message, it is the time at which the lease ends. Indexes end with seq, which is SQLite's row ID.
var migrations = [schemaVersion]string{`
CREATE TABLE outbox_messages (
	seq                INTEGER PRIMARY KEY AUTOINCREMENT,
	id                 TEXT NOT NULL UNIQUE,
	topic              TEXT NOT NULL,
	key                TEXT,
	status             TEXT NOT NULL DEFAULT 'pending'
		CHECK (status IN ('pending', 'processing', 'failed', 'sent', 'dead', 'discarded')),
	parked             INTEGER NOT NULL DEFAULT 0,
	next_attempt_at    INTEGER,
	lease              TEXT,
	lease_expiries     INTEGER NOT NULL DEFAULT 0,
	retry_count        INTEGER NOT NULL DEFAULT 0,
	redrives           INTEGER NOT NULL DEFAULT 0,
	last_attempt_at    INTEGER,
	error              TEXT,
	last_error         TEXT,
	dead_letter_reason TEXT,
	created_at         INTEGER NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)),
	dead_at            INTEGER,
	ended_at           INTEGER,
	content_type       TEXT NOT NULL DEFAULT 'application/json',
	headers            TEXT,
	traceparent        TEXT,
	tracestate         TEXT,
	payload            BLOB NOT NULL,
	edited_payload     BLOB
);
CREATE INDEX outbox_due ON outbox_messages (next_attempt_at) WHERE ` + active + ` AND parked = 0 AND key IS NULL;
CREATE INDEX outbox_keyed_due ON outbox_messages (next_attempt_at) WHERE ` + active +
	` AND parked = 0 AND key IS NOT NULL;
CREATE INDEX outbox_keys ON outbox_messages (key) WHERE ` + active + ` AND key IS NOT NULL;
CREATE INDEX outbox_busy_keys ON outbox_messages (key, next_attempt_at) WHERE status = 'processing' AND key IS NOT NULL;
CREATE INDEX outbox_dead ON outbox_messages (seq) WHERE status = 'dead';
CREATE INDEX outbox_ended ON outbox_messages (ended_at) WHERE status IN ('sent', 'discarded');
CREATE TABLE outbox_acts (
	seq        INTEGER PRIMARY KEY AUTOINCREMENT,
	at         INTEGER NOT NULL,
	who        TEXT NOT NULL,
	act        TEXT NOT NULL,
	message_id TEXT NOT NULL,
	reason     TEXT NOT NULL DEFAULT '',
	before     TEXT NOT NULL,
	after      TEXT NOT NULL
);
CREATE INDEX outbox_acts_of_message ON outbox_acts (message_id);
`}

// NewerSchemaError reports that a newer program has migrated the outbox.
type NewerSchemaError struct{ Have, Known int }

func (e *NewerSchemaError) Error() string {
	return fmt.Sprintf("the outbox has schema version %d, this program knows up to %d: use a newer program", e.Have,
		e.Known)
}

// Migrate creates the tables of the outbox, or migrates them to the version that this program knows. An application
// that writes messages but opens no Store calls it.
func Migrate(ctx context.Context, conn *sql.Conn) error { return migrate(ctx, conn) }

// migrate migrates the outbox to schemaVersion. It holds the write lock, so that of several processes that open the
// outbox together only one migrates it.
func migrate(ctx context.Context, conn *sql.Conn) error {
	if current, err := version(ctx, conn); err != nil || current == schemaVersion {
		return err
	}
	return transact(ctx, conn, func() error {
		current, err := version(ctx, conn)
		if err != nil {
			return err
		}
		steps := append(
			[]string{"CREATE TABLE IF NOT EXISTS outbox_version (version INTEGER NOT NULL)"},
			migrations[current:]...)
		steps = append(steps, "DELETE FROM outbox_version",
			fmt.Sprintf("INSERT INTO outbox_version VALUES (%d)", schemaVersion))
		for _, step := range steps {
			if _, err := conn.ExecContext(ctx, step); err != nil {
				return err
			}
		}
		return nil
	})
}

// version returns the schema version, which is 0 in a database without an outbox.
func version(ctx context.Context, conn *sql.Conn) (int, error) {
	var v int
	err := conn.QueryRowContext(ctx, "SELECT version FROM outbox_version").Scan(&v)
	switch {
	case errors.Is(err, sql.ErrNoRows), err != nil && strings.Contains(err.Error(), "no such table"):
		return 0, nil
	case err == nil && v > schemaVersion:
		return v, &NewerSchemaError{Have: v, Known: schemaVersion}
	}
	return v, err
}

// transact calls do under the write lock. Starting and ending the transaction cannot be cancelled, since an
// interrupted BEGIN may have taken effect nevertheless. Waiting for the lock is limited by busy_timeout.
func transact(ctx context.Context, conn *sql.Conn, do func() error) error {
	always := context.WithoutCancel(ctx)
	if _, err := conn.ExecContext(always, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := do()
	if err == nil {
		_, err = conn.ExecContext(always, "COMMIT")
	}
	if err != nil {
		_, _ = conn.ExecContext(always, "ROLLBACK") // err is the one to return
	}
	return err
}
