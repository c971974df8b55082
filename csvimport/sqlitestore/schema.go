package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"

	"stepback/csvimport"
	"stepback/internal/checksumvfs"
	"stepback/internal/sqlitewal"
	"stepback/retry"
)

// schemaVersion is the version stored in PRAGMA user_version. A database of version 3 that cannot be given checksums
// now is used as it is.
const schemaVersion = withChecksums

// migrations[i] migrates a database from version i to i+1.
//
// Versions 1 and 2 had a key for each row: a row with fingerprint NULL was closed by Settle; one with run_id NULL was
// counted by a run without a name. Version 3 has a block of package ledger for every 128 rows; foldRows creates them.
// In version 4 each page has a checksum, which convert adds; the tables are those of version 3.
var migrations = [withChecksums - 1]string{`
CREATE TABLE users (
	user_id     TEXT PRIMARY KEY,
	login_count INTEGER NOT NULL CHECK (typeof(login_count) = 'integer' AND login_count >= 0),
	post_count  INTEGER NOT NULL CHECK (typeof(post_count) = 'integer' AND post_count >= 0),
	version     INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE import_files (
	id     INTEGER PRIMARY KEY,
	bucket TEXT NOT NULL,
	key    TEXT NOT NULL,
	etag   TEXT NOT NULL,
	UNIQUE (bucket, key, etag)
);
CREATE TABLE import_rows (
	file_id     INTEGER NOT NULL REFERENCES import_files (id),
	row         INTEGER NOT NULL,
	fingerprint INTEGER,
	PRIMARY KEY (file_id, row)
) WITHOUT ROWID;
`, `
CREATE TABLE import_runs (
	id      INTEGER PRIMARY KEY,
	file_id INTEGER NOT NULL REFERENCES import_files (id),
	name    TEXT NOT NULL,
	UNIQUE (file_id, name)
);
ALTER TABLE import_rows ADD COLUMN run_id INTEGER REFERENCES import_runs (id);
`, `
CREATE TABLE import_blocks (
	file_id INTEGER NOT NULL REFERENCES import_files (id),
	block   INTEGER NOT NULL,
	data    BLOB NOT NULL,
	PRIMARY KEY (file_id, block)
) WITHOUT ROWID;
`}

// begin gives a new database pages with checksums, which must happen before its first page is written, and turns on the
// write-ahead log.
func begin(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	pages := 0
	if err := conn.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages); err != nil {
		return err
	}
	if pages == 0 {
		if err := checksumvfs.Reserve(ctx, conn); err != nil {
			return err
		}
	}
	return sqlitewal.Use(ctx, conn)
}

// migrate migrates the database to schemaVersion. It holds the write lock, so that only one of several processes
// that open the database concurrently migrates it.
func migrate(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	current, err := version(ctx, conn)
	if err != nil {
		return err
	}
	if current < withChecksums-1 {
		if err := transact(ctx, conn, migrateTables); err != nil {
			return err
		}
	}
	if current < withChecksums {
		return convert(ctx, conn)
	}
	if current > schemaVersion {
		return newer(current)
	}
	return requireChecksums(ctx, conn, "it")
}

// transact runs do in a transaction that holds the write lock.
func transact(ctx context.Context, conn *sql.Conn, do func(context.Context, *sql.Conn) error) error {
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := do(ctx, conn); err != nil {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") // err is the error to report
		return err
	}
	_, err := conn.ExecContext(ctx, "COMMIT")
	return err
}

// migrateTables migrates the tables, to version 3.
func migrateTables(ctx context.Context, conn *sql.Conn) error {
	current, err := version(ctx, conn)
	if err != nil {
		return err
	}
	if current >= withChecksums-1 { // another process has done it
		return nil
	}
	for _, step := range migrations[current:] {
		if _, err := conn.ExecContext(ctx, step); err != nil {
			return err
		}
	}
	if current < 3 {
		if err := foldRows(ctx, conn); err != nil {
			return fmt.Errorf("turning the keys of single rows into blocks: %w", err)
		}
	}
	return setVersion(ctx, conn, withChecksums-1)
}

func setVersion(ctx context.Context, conn *sql.Conn, v int) error {
	_, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", v))
	return err
}

func newer(current int) error {
	return csvimport.Fail(retry.RetryNotWorthwhile,
		"the database has schema version %d, this program knows up to %d: use a newer program", current, schemaVersion)
}

func version(ctx context.Context, conn *sql.Conn) (int, error) {
	var v int
	err := conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
	return v, err
}
