package postgresstore

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"stepback/csvimport"
	"stepback/retry"
)

// schemaVersion is the version stored in the table schema_version.
const schemaVersion = 3

// migrationLock serialises concurrent migrations.
const migrationLock = 0x73746570_6261636b // "stepback"

// migrations[i] migrates a database from version i to i+1. User ids are sorted by their bytes, as in every other
// store.
//
// The decision on a row is in one of two tables. import_blocks holds the rows that batches have counted, in blocks
// of package ledger. import_rows has a key for each row that was applied or settled on its own. If these rows used
// blocks, too, neighbours that are applied concurrently would wait for each other's commits. In import_rows, a row
// with fingerprint NULL was closed by Settle; a row with run_id NULL was counted by a run without a name.
var migrations = [schemaVersion]string{`
CREATE TABLE users (
	user_id     text COLLATE "C" PRIMARY KEY,
	login_count bigint NOT NULL CHECK (login_count >= 0),
	post_count  bigint NOT NULL CHECK (post_count >= 0),
	version     bigint NOT NULL
);
CREATE TABLE import_files (
	id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	bucket text NOT NULL,
	key    text NOT NULL,
	etag   text NOT NULL,
	UNIQUE (bucket, key, etag)
);
CREATE TABLE import_rows (
	file_id     bigint NOT NULL REFERENCES import_files (id),
	row_number  bigint NOT NULL,
	fingerprint bigint,
	PRIMARY KEY (file_id, row_number)
);
`, `
CREATE TABLE import_runs (
	id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	file_id bigint NOT NULL REFERENCES import_files (id),
	name    text NOT NULL,
	UNIQUE (file_id, name)
);
ALTER TABLE import_rows ADD COLUMN run_id bigint;
`, `
CREATE TABLE import_blocks (
	file_id bigint NOT NULL REFERENCES import_files (id),
	block   bigint NOT NULL,
	data    bytea NOT NULL,
	PRIMARY KEY (file_id, block)
);
`}

func migrate(ctx context.Context, pool *pgxpool.Pool) error {
	if v, err := version(ctx, pool); err != nil || v == schemaVersion {
		return err
	}
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrationLock)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL)"); err != nil {
			return err
		}
		current, err := version(ctx, tx)
		if err != nil {
			return err
		}
		if current > schemaVersion {
			return csvimport.Fail(retry.RetryNotWorthwhile,
				"the database has schema version %d, this program knows up to %d: use a newer program", current,
				schemaVersion)
		}
		for _, step := range migrations[current:] {
			if _, err := tx.Exec(ctx, step); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, "DELETE FROM schema_version"); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "INSERT INTO schema_version VALUES ($1)", schemaVersion)
		return err
	})
}

type rowQuerier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// version returns the schema version; 0 in a database without tables.
func version(ctx context.Context, q rowQuerier) (int, error) {
	const undefinedTable = "42P01"
	var v int
	err := q.QueryRow(ctx, "SELECT version FROM schema_version").Scan(&v)
	var state *pgconn.PgError
	if errors.Is(err, pgx.ErrNoRows) || errors.As(err, &state) && state.Code == undefinedTable {
		return 0, nil
	}
	return v, err
}
